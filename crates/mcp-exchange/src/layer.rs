use crate::handler::Handler;

/// Wraps a handler in another: a limit, a log, a translation.
///
/// Laws: a layer answers each request once, passes notices on in order, and adds no state that one exchange could
/// leak to another.
pub trait Layer<H> {
    /// The wrapped handler.
    type Handler: Handler;

    /// Wraps.
    fn layer(self, inner: H) -> Self::Handler;
}
