//! The calls that have a name of their own, and the raw one.

use std::borrow::Cow;

use bytes::{BufMut, BytesMut};
use mcp_jsonrpc::{RawJson, encode};
use mcp_types::{
    CallToolResult, CompleteParams, CompleteResult, ContentBlock, EmptyResult, GetPromptResult, LoggingLevel,
    ReadResourceResult, Revision, SetLevelParams, method,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::client::Client;
use crate::error::ClientError;
use crate::params::{Members, split_meta};
use crate::repeats::Repeats;
use crate::request::{Context, Request, Rounds, as_it_is, typed};

impl Client {
    /// Calls a tool. A name that was never listed is sent, too.
    ///
    /// A tool that fails is a result with `is_error`, not an error. Where the catalogue knows the tool's output
    /// schema, a result that does not fit it is an error.
    pub fn tool(&self, name: impl AsRef<str>) -> Request<CallToolResult> {
        let name = name.as_ref();
        let members = self.0.permits(method::TOOLS_CALL).map(|()| {
            let mut members = Members::new();
            members.string("name", name);
            members
        });
        let mut request = Request::new(self, method::TOOLS_CALL, members, Rounds::Answer, tool_result);
        request.output = self.0.output(name);
        if self.0.repeats_arguments() {
            request.repeats = Some(Box::new(Repeats::new(name, self.0.header_params(name))));
        }
        request.arguments_at = request.members.as_ref().ok().map(Members::len);
        request
    }

    /// Reads a resource.
    pub fn read_resource(&self, uri: impl AsRef<str>) -> Request<ReadResourceResult> {
        let members = self.0.permits(method::RESOURCES_READ).map(|()| {
            let mut members = Members::new();
            members.string("uri", uri.as_ref());
            members
        });
        Request::new(self, method::RESOURCES_READ, members, Rounds::Answer, typed)
    }

    /// Fills a prompt in.
    pub fn prompt(&self, name: impl AsRef<str>) -> Request<GetPromptResult> {
        let members = self.0.permits(method::PROMPTS_GET).map(|()| {
            let mut members = Members::new();
            members.string("name", name.as_ref());
            members
        });
        Request::new(self, method::PROMPTS_GET, members, Rounds::Answer, typed)
    }

    /// Asks for proposals to complete an argument.
    pub fn complete(&self, params: &CompleteParams) -> Request<CompleteResult> {
        self.entity(method::COMPLETION_COMPLETE, params, typed)
    }

    /// Asks whether the server is there; it exists in the stateful era only.
    pub fn ping(&self) -> Request<()> {
        let members = self.0.permits(method::PING).map(|()| Members::new());
        Request::new(self, method::PING, members, Rounds::Refuse, nothing)
    }

    /// Sends any request, as it is, whether or not the server declared what it needs, and hands the result out as it
    /// comes. `params` is an object or absent. In the stateless era what every request says about its client is added
    /// to its `_meta`.
    pub fn request(&self, method: impl Into<Cow<'static, str>>, params: Option<RawJson>) -> Request<RawJson> {
        let params = params.filter(|params| !params.is_null());
        let (members, meta) = match params {
            None => (Ok(Members::new()), Default::default()),
            Some(params) if !params.is_object() => (
                Err(ClientError::usage("the parameters are not a JSON object")),
                Default::default(),
            ),
            Some(params) => match split_meta(&params) {
                Ok((members, meta)) => (Ok(members.explicit()), meta),
                Err(error) => (Err(error), Default::default()),
            },
        };
        let mut request = Request::new(self, method, members, Rounds::Ignore, as_it_is);
        request.options.meta = meta;
        request
    }

    /// Sends any notification.
    ///
    /// # Errors
    /// When the connection is gone.
    pub async fn notify(
        &self,
        method: impl Into<Cow<'static, str>>,
        params: Option<RawJson>,
    ) -> Result<(), ClientError> {
        let params = params.map(|params| encode::compact(&params).into_bytes());
        let note = mcp_exchange::Outgoing::new(method, params);
        self.link().notify(note).await.map_err(ClientError::link)
    }

    /// Sets the least severity of the log messages that the server sends, from now on.
    ///
    /// In the stateful era this is a request; in the stateless one each further request says so.
    ///
    /// # Errors
    /// As any request.
    pub async fn set_log_level(&self, level: LoggingLevel) -> Result<(), ClientError> {
        if self.revision().is_stateless() {
            self.0.set_log_level(level);
            return Ok(());
        }
        self.entity(method::LOGGING_SET_LEVEL, &SetLevelParams::new(level), nothing)
            .await
    }

    pub(crate) fn entity<P: mcp_types::wire::Wire, T>(
        &self,
        method: &'static str,
        params: &P,
        finish: fn(&Context<'_>, RawJson) -> Result<T, ClientError>,
    ) -> Request<T> {
        let revision: Revision = self.revision();
        let members = self
            .0
            .permits(method)
            .and_then(|()| Members::of_entity(params, revision));
        Request::new(self, method, members, Rounds::Refuse, finish)
    }
}

/// An answer that says nothing.
pub(crate) fn nothing(context: &Context<'_>, raw: RawJson) -> Result<(), ClientError> {
    typed::<EmptyResult>(context, raw).map(drop)
}

fn tool_result(context: &Context<'_>, raw: RawJson) -> Result<CallToolResult, ClientError> {
    let result: CallToolResult = typed(context, raw)?;
    if result.is_error {
        // What a failing tool says need not fit anything (P125).
        return Ok(result);
    }
    let structure = result.structured_content.as_ref();
    if structure.is_some_and(|value| !value.is_object()) && !context.client.revision().is_stateless() {
        tracing::warn!("a structured result is no object, as it should be before 2026-07-28");
    }
    if let Some(output) = context.output {
        output.check(structure)?;
    }
    Ok(result)
}

impl Request<CallToolResult> {
    /// Sets the arguments: anything that serializes to an object. Nothing (`()`) stands for no arguments.
    pub fn args<A: Serialize + ?Sized>(mut self, args: &A) -> Self {
        self.write_arguments(|out: &mut BytesMut| {
            serde_json::to_writer(out.writer(), args).map_err(ClientError::arguments)
        });
        self
    }

    /// Sets the arguments to an encoded object, which is sent as it is.
    pub fn args_raw(mut self, args: &RawJson) -> Self {
        self.write_arguments(|out: &mut BytesMut| {
            out.put_slice(encode::compact(args).as_bytes());
            Ok(())
        });
        self
    }

    /// Does not check the structured result against the tool's output schema.
    pub fn unchecked(mut self) -> Self {
        self.output = None;
        self
    }

    /// Calls the tool and reads its structured result.
    ///
    /// # Errors
    /// As the call itself. A tool that fails is an error here ([`ClientError::is_tool_failure`]), and so is a result
    /// without structure, or with one that is no `R`.
    pub async fn structured<R: DeserializeOwned>(self) -> Result<R, ClientError> {
        let result = self.await?;
        if result.is_error {
            return Err(ClientError::tool(text_of(&result)));
        }
        let Some(value) = &result.structured_content else {
            return Err(ClientError::protocol(
                "the tool's result has no structuredContent",
            ));
        };
        value
            .parse()
            .map_err(|error| ClientError::unreadable(method::TOOLS_CALL, error))
    }
}

fn text_of(result: &CallToolResult) -> String {
    let texts: Vec<&str> = result.content.iter().filter_map(ContentBlock::as_text).collect();
    if texts.is_empty() {
        "the tool failed".to_owned()
    } else {
        texts.join("\n")
    }
}

impl Request<GetPromptResult> {
    /// Fills arguments in; their values are strings in every revision.
    pub fn args<K: AsRef<str>, V: AsRef<str>>(mut self, args: impl IntoIterator<Item = (K, V)>) -> Self {
        self.write_arguments(|out: &mut BytesMut| {
            out.put_u8(b'{');
            for (at, (key, value)) in args.into_iter().enumerate() {
                if at > 0 {
                    out.put_u8(b',');
                }
                encode::string(out, key.as_ref());
                out.put_u8(b':');
                encode::string(out, value.as_ref());
            }
            out.put_u8(b'}');
            Ok(())
        });
        self
    }
}
