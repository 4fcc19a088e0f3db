use std::convert::Infallible;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Frame, SizeHint};

/// The body of a response: whole, or a stream of events.
pub struct Body(Kind);

enum Kind {
    Whole(Option<Bytes>),
    Events(Pin<Box<dyn Events>>),
}

/// A stream of encoded events. Dropping it is how a client's disconnect is seen.
pub(crate) trait Events: Send {
    /// The next bytes, or the end.
    fn poll_events(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Bytes>>;
}

impl Body {
    /// Nothing.
    pub fn empty() -> Self {
        Self(Kind::Whole(None))
    }

    pub(crate) fn whole(bytes: impl Into<Bytes>) -> Self {
        let bytes = bytes.into();
        Self(Kind::Whole((!bytes.is_empty()).then_some(bytes)))
    }

    pub(crate) fn events(events: impl Events + 'static) -> Self {
        Self(Kind::Events(Box::pin(events)))
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match &mut self.0 {
            Kind::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Kind::Events(events) => events
                .as_mut()
                .poll_events(cx)
                .map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes)))),
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self.0, Kind::Whole(None))
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Kind::Whole(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64)),
            Kind::Events(_) => SizeHint::default(),
        }
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Kind::Whole(_) => "Body(whole)",
            Kind::Events(_) => "Body(events)",
        })
    }
}
