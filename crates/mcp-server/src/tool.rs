use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use mcp_jsonrpc::RawJson;
use mcp_schema::ArgumentError;
use mcp_types::{CallToolResult, Icon, Meta, ToolAnnotations};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::cx::{Base, Cx};
use crate::error::{BuildError, Failure};
use crate::output::ToolOutput;

/// A tool to register: its definition and its handler.
///
/// The handler is any `async fn(Cx<S>, Args) -> impl ToolOutput`, or one without `Args`. `Args` derives
/// `Deserialize` and `JsonSchema`; its doc comments become the descriptions of the arguments.
///
/// ```
/// use mcp_server::{Cx, Tool};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Add {
///     /// The first number.
///     a: i64,
///     /// The second number.
///     b: i64,
/// }
///
/// async fn add(_cx: Cx, args: Add) -> Result<String, std::num::TryFromIntError> {
///     Ok(i32::try_from(args.a + args.b)?.to_string())
/// }
///
/// let tool = Tool::new("add", add).description("Adds two integers.").read_only();
/// # let _ = tool;
/// ```
pub struct Tool<S = ()> {
    pub(crate) definition: mcp_types::Tool,
    /// The schema, and whether parsing into the Rust type checks all of it.
    schema: Result<(RawJson, bool), mcp_schema::SchemaError>,
    /// The schema, and whether it was made from the type that is returned.
    output: Option<Result<(RawJson, bool), mcp_schema::SchemaError>>,
    start: StartWith<S>,
}

/// A started call.
pub(crate) type CallFuture = Pin<Box<dyn Future<Output = Result<CallToolResult, Failure>> + Send>>;

type StartWith<S> = Box<dyn Fn(Base, Arc<S>, &RawJson) -> Result<CallFuture, ArgumentError> + Send + Sync>;

/// A handler of a tool: an async function of a [`Cx`] and, if it has any, its arguments.
///
/// `M` only tells the two shapes apart.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no tool handler",
    label = "must be `async fn(Cx<S>, Args) -> impl ToolOutput` or `async fn(Cx<S>) -> impl ToolOutput`",
    note = "`Args` must derive `serde::Deserialize` and `schemars::JsonSchema`",
    note = "the future must be `Send`: hold no `Rc`, `RefCell` guard or std mutex guard across an await",
    note = "results may be `String`, `Json<T>`, `CallToolResult`, content blocks, or a `Result` of one"
)]
pub trait ToolHandler<S, M>: Send + Sync + 'static {
    /// The arguments, or `()`.
    type Args: DeserializeOwned + JsonSchema + Send + 'static;
    /// What it returns.
    type Output: ToolOutput;

    /// Calls it.
    fn call(&self, cx: Cx<S>, args: Self::Args) -> impl Future<Output = Self::Output> + Send + 'static;
}

impl<S, F, Fut, A> ToolHandler<S, (A,)> for F
where
    F: Fn(Cx<S>, A) -> Fut + Send + Sync + 'static,
    Fut: Future<Output: ToolOutput> + Send + 'static,
    A: DeserializeOwned + JsonSchema + Send + 'static,
{
    type Args = A;
    type Output = Fut::Output;

    fn call(&self, cx: Cx<S>, args: A) -> impl Future<Output = Fut::Output> + Send + 'static {
        self(cx, args)
    }
}

/// Tools without arguments.
#[derive(Debug, Clone, Copy, serde::Deserialize)]
pub struct NoArgs {}

/// By hand: derived, what is said above about this type would be what models read about every such tool.
impl JsonSchema for NoArgs {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "NoArgs".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": "object"})
    }
}

impl<S, F, Fut> ToolHandler<S, ()> for F
where
    F: Fn(Cx<S>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output: ToolOutput> + Send + 'static,
{
    type Args = NoArgs;
    type Output = Fut::Output;

    fn call(&self, cx: Cx<S>, _: NoArgs) -> impl Future<Output = Fut::Output> + Send + 'static {
        self(cx)
    }
}

impl<S: Send + Sync + 'static> Tool<S> {
    /// A tool of this name. Names are 1 to 128 characters of `A-Z a-z 0-9 _ . -`.
    pub fn new<M, H: ToolHandler<S, M>>(name: impl Into<String>, handler: H) -> Self {
        let handler = Arc::new(handler);
        Self {
            definition: mcp_types::Tool::new(name, RawJson::empty_object()),
            schema: mcp_schema::derive::<H::Args>().map(|derived| (derived.json, derived.enforced)),
            output: H::Output::schema().map(|schema| schema.map(|schema| (schema, true))),
            start: Box::new(move |base, state, raw| {
                let args = mcp_schema::parse_args::<H::Args>(raw)?;
                let work = handler.call(Cx::new(base, state), args);
                Ok(Box::pin(async move { work.await.into_result() }))
            }),
        }
    }

    /// A tool with a schema of your own and arguments as they come, already validated against it.
    ///
    /// Needs the feature `validate`, or [`Builder::build`](crate::Builder::build) fails.
    pub fn raw<F, Fut>(name: impl Into<String>, schema: RawJson, handler: F) -> Self
    where
        F: Fn(Cx<S>, RawJson) -> Fut + Send + Sync + 'static,
        Fut: Future<Output: ToolOutput> + Send + 'static,
    {
        Self::from_definition(mcp_types::Tool::new(name, schema), handler)
    }

    /// A tool with a definition that exists already, as in an agent's own registry of tools. Its arguments come as
    /// they are, already validated against `inputSchema`; its results are validated against `outputSchema`.
    ///
    /// Needs the feature `validate`, or [`Builder::build`](crate::Builder::build) fails.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// use mcp_jsonrpc::RawJson;
    /// use mcp_server::{Cx, Server, Tool};
    ///
    /// trait Ability: Send + Sync {
    ///     fn definition(&self) -> mcp_types::Tool;
    ///     fn run(&self, arguments: &RawJson) -> Result<String, std::io::Error>;
    /// }
    ///
    /// fn serve(registry: Vec<Arc<dyn Ability>>) -> Result<Server, mcp_server::BuildError> {
    ///     let tools = registry.into_iter().map(|ability| {
    ///         Tool::from_definition(ability.definition(), move |_cx: Cx, arguments| {
    ///             let ability = Arc::clone(&ability);
    ///             async move { ability.run(&arguments) }
    ///         })
    ///     });
    ///     Server::builder("agent", "1.0.0").tools(tools).build()
    /// }
    /// # assert!(serve(Vec::new()).is_ok());
    /// ```
    pub fn from_definition<F, Fut>(definition: mcp_types::Tool, handler: F) -> Self
    where
        F: Fn(Cx<S>, RawJson) -> Fut + Send + Sync + 'static,
        Fut: Future<Output: ToolOutput> + Send + 'static,
    {
        let schema = definition.input_schema.clone();
        Self {
            schema: mcp_schema::check_tool_input_schema(&schema).map(|()| (schema, false)),
            output: definition.output_schema.clone().map(|schema| Ok((schema, false))),
            definition,
            start: Box::new(move |base, state, raw| {
                let work = handler(Cx::new(base, state), raw.clone());
                Ok(Box::pin(async move { work.await.into_result() }))
            }),
        }
    }

    /// The name for people.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.definition.title = Some(title.into());
        self
    }

    /// What it does, for the model.
    #[must_use]
    pub fn description(mut self, text: impl Into<String>) -> Self {
        self.definition.description = Some(text.into());
        self
    }

    /// Hints that it changes nothing.
    #[must_use]
    pub fn read_only(self) -> Self {
        self.annotate(|hints| hints.read_only_hint = Some(true))
    }

    /// Hints whether it may destroy something, rather than only add.
    #[must_use]
    pub fn destructive(self, destructive: bool) -> Self {
        self.annotate(|hints| hints.destructive_hint = Some(destructive))
    }

    /// Hints that a second call with the same arguments changes nothing more.
    #[must_use]
    pub fn idempotent(self) -> Self {
        self.annotate(|hints| hints.idempotent_hint = Some(true))
    }

    /// Hints whether it reaches into an open world, such as the web.
    #[must_use]
    pub fn open_world(self, open: bool) -> Self {
        self.annotate(|hints| hints.open_world_hint = Some(open))
    }

    fn annotate(mut self, change: impl FnOnce(&mut ToolAnnotations)) -> Self {
        change(self.definition.annotations.get_or_insert_default());
        self
    }

    /// Pictures of it.
    #[must_use]
    pub fn icons(mut self, icons: impl IntoIterator<Item = Icon>) -> Self {
        self.definition.icons = icons.into_iter().collect();
        self
    }

    /// Metadata.
    #[must_use]
    pub fn meta(mut self, meta: Meta) -> Self {
        self.definition.meta = meta;
        self
    }

    /// The schema of `structuredContent`, for tools whose return type does not say it.
    #[must_use]
    pub fn output_schema(mut self, schema: RawJson) -> Self {
        self.output = Some(Ok((schema, false)));
        self
    }

    /// Joins the handler with the state, and compiles what is checked at each call.
    pub(crate) fn erase(self, state: &Arc<S>) -> Result<(Box<str>, ToolEntry), BuildError> {
        let Self {
            mut definition,
            schema,
            output,
            start,
        } = self;
        let name = definition.name.clone();
        check_name(&name)?;
        let (schema, enforced) = schema.map_err(|error| BuildError::schema(&name, "input", error))?;
        // A client on HTTP would drop the tool (2026-07-28: server/tools, "x-mcp-header").
        let header_params =
            mcp_schema::header_params(&schema).map_err(|error| BuildError::schema(&name, "input", error))?;
        let input = (!enforced)
            .then(|| Check::compile(&name, "input", &schema))
            .transpose()?;
        definition.input_schema = schema;
        let mut checked_output = None;
        if let Some(output) = output {
            let (output, typed) = output.map_err(|error| BuildError::schema(&name, "output", error))?;
            // What serde writes for a type has the shape that the type's schema says; that is checked where it can be.
            if cfg!(feature = "validate") || !typed {
                checked_output = Some(Check::compile(&name, "output", &output)?);
            }
            definition.output_schema = Some(output);
        }
        let state = Arc::clone(state);
        let entry = ToolEntry {
            definition,
            header_params,
            input,
            output: checked_output,
            start: Box::new(move |base, raw| start(base, Arc::clone(&state), raw)),
        };
        Ok((name.into(), entry))
    }
}

fn check_name(name: &str) -> Result<(), BuildError> {
    let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if (1..=128).contains(&name.len()) && name.chars().all(legal) {
        return Ok(());
    }
    Err(BuildError::new(format!(
        "tool {name:?}: a name is 1 to 128 characters of A-Z a-z 0-9 _ . -"
    )))
}

/// A registered tool.
pub(crate) struct ToolEntry {
    pub(crate) definition: mcp_types::Tool,
    /// Arguments that HTTP repeats in headers.
    pub(crate) header_params: Vec<mcp_schema::HeaderParam>,
    input: Option<Check>,
    output: Option<Check>,
    start: Start,
}

type Start = Box<dyn Fn(Base, &RawJson) -> Result<CallFuture, ArgumentError> + Send + Sync>;

impl ToolEntry {
    /// Checks the arguments and starts the call. The error is for the model.
    pub(crate) fn start(&self, base: Base, arguments: &RawJson) -> Result<CallFuture, ArgumentError> {
        if let Some(check) = &self.input {
            check.arguments(arguments)?;
        }
        (self.start)(base, arguments)
    }

    /// Checks a successful result against the output schema (2025-06-18: server/tools, "Output Schema").
    pub(crate) fn check_output(&self, result: &CallToolResult) -> Result<(), String> {
        if self.definition.output_schema.is_none() || result.is_error {
            return Ok(());
        }
        let Some(structured) = &result.structured_content else {
            return Err(format!(
                "tool {} returned no structured content",
                self.definition.name
            ));
        };
        match &self.output {
            Some(check) => check.arguments(structured).map_err(|error| {
                format!(
                    "tool {} returned structured content that breaks its schema: {error}",
                    self.definition.name
                )
            }),
            None => Ok(()),
        }
    }
}

#[cfg(feature = "validate")]
struct Check(mcp_schema::Validator);

#[cfg(feature = "validate")]
impl Check {
    fn compile(tool: &str, which: &str, schema: &RawJson) -> Result<Self, BuildError> {
        mcp_schema::Validator::compile(schema, &mcp_schema::SchemaLimits::default())
            .map(Self)
            .map_err(|error| BuildError::schema(tool, which, error))
    }

    fn arguments(&self, value: &RawJson) -> Result<(), ArgumentError> {
        self.0.check(value)
    }
}

/// Never made: without the feature, a schema that needs checking is refused when the server is built.
#[cfg(not(feature = "validate"))]
enum Check {}

#[cfg(not(feature = "validate"))]
impl Check {
    fn compile(tool: &str, which: &str, _: &RawJson) -> Result<Self, BuildError> {
        Err(BuildError::new(format!(
            "tool {tool:?}: its {which} schema says more than its Rust type checks; turn on the feature `validate` of \
             mcp-server"
        )))
    }

    fn arguments(&self, _: &RawJson) -> Result<(), ArgumentError> {
        match *self {}
    }
}
