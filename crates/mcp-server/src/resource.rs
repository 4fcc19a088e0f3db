use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use mcp_types::{Annotations, Icon, Map, Meta, ReadResourceResult, ResourceContents};

use crate::completion::{Completer, CompleterWith, erase_completer};
use crate::cx::{Base, Cx};
use crate::error::{BuildError, Failure};
use crate::template::UriTemplate;

/// What reading a resource may return: text, or contents as the protocol has them.
pub trait ResourceOutput: Send {
    /// The result on the wire. `uri` and `mime_type` are those of what was asked for.
    ///
    /// # Errors
    /// When reading failed.
    fn into_contents(self, uri: &str, mime_type: Option<&str>) -> Result<Vec<ResourceContents>, Failure>;
}

impl ResourceOutput for String {
    fn into_contents(self, uri: &str, mime_type: Option<&str>) -> Result<Vec<ResourceContents>, Failure> {
        let mut contents = ResourceContents::from_text(uri, self);
        contents.mime_type = mime_type.map(str::to_owned);
        Ok(vec![contents])
    }
}

impl ResourceOutput for &'static str {
    fn into_contents(self, uri: &str, mime_type: Option<&str>) -> Result<Vec<ResourceContents>, Failure> {
        self.to_owned().into_contents(uri, mime_type)
    }
}

impl ResourceOutput for ResourceContents {
    fn into_contents(self, _: &str, _: Option<&str>) -> Result<Vec<ResourceContents>, Failure> {
        Ok(vec![self])
    }
}

impl ResourceOutput for Vec<ResourceContents> {
    fn into_contents(self, _: &str, _: Option<&str>) -> Result<Vec<ResourceContents>, Failure> {
        Ok(self)
    }
}

impl<T: ResourceOutput, E: Into<Failure> + Send> ResourceOutput for Result<T, E> {
    fn into_contents(self, uri: &str, mime_type: Option<&str>) -> Result<Vec<ResourceContents>, Failure> {
        self.map_err(Into::into)?.into_contents(uri, mime_type)
    }
}

pub(crate) type ReadFuture = Pin<Box<dyn Future<Output = Result<ReadResourceResult, Failure>> + Send>>;
type ReadWith<S> = Box<dyn Fn(Base, Arc<S>, String) -> ReadFuture + Send + Sync>;
type ReadTemplateWith<S> = Box<dyn Fn(Base, Arc<S>, String, Map<String>) -> ReadFuture + Send + Sync>;

/// A resource to register: its definition and how it is read.
pub struct Resource<S = ()> {
    definition: mcp_types::Resource,
    read: Box<dyn FnOnce(Option<String>) -> ReadWith<S> + Send>,
}

impl<S: Send + Sync + 'static> Resource<S> {
    /// A resource at this URI, read by `async fn(Cx<S>) -> impl ResourceOutput`.
    pub fn new<F, Fut>(uri: impl Into<String>, name: impl Into<String>, read: F) -> Self
    where
        F: Fn(Cx<S>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output: ResourceOutput> + Send + 'static,
    {
        Self {
            definition: mcp_types::Resource::new(uri, name),
            read: Box::new(move |mime_type| {
                Box::new(move |base, state, uri| {
                    let (work, mime_type) = (read(Cx::new(base, state)), mime_type.clone());
                    Box::pin(async move {
                        let contents = work.await.into_contents(&uri, mime_type.as_deref())?;
                        Ok(ReadResourceResult::new(contents))
                    })
                })
            }),
        }
    }

    /// The name for people.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.definition.title = Some(title.into());
        self
    }

    /// What it is.
    #[must_use]
    pub fn description(mut self, text: impl Into<String>) -> Self {
        self.definition.description = Some(text.into());
        self
    }

    /// Its media type.
    #[must_use]
    pub fn mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.definition.mime_type = Some(mime_type.into());
        self
    }

    /// Its size in bytes, before any encoding.
    #[must_use]
    pub fn size(mut self, bytes: u64) -> Self {
        self.definition.size = Some(bytes);
        self
    }

    /// Hints on whom it is for.
    #[must_use]
    pub fn annotations(mut self, annotations: Annotations) -> Self {
        self.definition.annotations = Some(annotations);
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

    pub(crate) fn erase(self, state: &Arc<S>) -> Result<(Box<str>, ResourceEntry), BuildError> {
        let Self { definition, read } = self;
        check_uri(&definition.uri)?;
        let read = read(definition.mime_type.clone());
        let state = Arc::clone(state);
        let uri = definition.uri.as_str().into();
        let entry = ResourceEntry {
            definition,
            read: Box::new(move |base, uri| read(base, Arc::clone(&state), uri)),
        };
        Ok((uri, entry))
    }
}

fn check_uri(uri: &str) -> Result<(), BuildError> {
    let scheme = uri.split_once(':').map(|(scheme, _)| scheme);
    let legal = scheme.is_some_and(|scheme| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
    });
    if legal && !uri.chars().any(char::is_control) {
        return Ok(());
    }
    Err(BuildError::new(format!(
        "resource {uri:?}: a URI begins with a scheme and holds no control characters"
    )))
}

/// A registered resource.
pub(crate) struct ResourceEntry {
    pub(crate) definition: mcp_types::Resource,
    pub(crate) read: Box<dyn Fn(Base, String) -> ReadFuture + Send + Sync>,
}

/// A family of resources to register: a URI template (RFC 6570, levels 1 to 3) and how one of it is read.
pub struct Template<S = ()> {
    definition: mcp_types::ResourceTemplate,
    read: Box<dyn FnOnce(Option<String>) -> ReadTemplateWith<S> + Send>,
    completers: Vec<(String, CompleterWith<S>)>,
}

impl<S: Send + Sync + 'static> Template<S> {
    /// Resources of this form, read by `async fn(Cx<S>, Map<String>) -> impl ResourceOutput`, which gets the
    /// variables, each percent-decoded once: a value may hold `/` or `..`, so check it before it becomes part of a path.
    pub fn new<F, Fut>(uri_template: impl Into<String>, name: impl Into<String>, read: F) -> Self
    where
        F: Fn(Cx<S>, Map<String>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output: ResourceOutput> + Send + 'static,
    {
        Self {
            definition: mcp_types::ResourceTemplate::new(uri_template, name),
            read: Box::new(move |mime_type| {
                Box::new(move |base, state, uri, values| {
                    let (work, mime_type) = (read(Cx::new(base, state), values), mime_type.clone());
                    Box::pin(async move {
                        let contents = work.await.into_contents(&uri, mime_type.as_deref())?;
                        Ok(ReadResourceResult::new(contents))
                    })
                })
            }),
            completers: Vec::new(),
        }
    }

    /// The name for people.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.definition.title = Some(title.into());
        self
    }

    /// What these resources are.
    #[must_use]
    pub fn description(mut self, text: impl Into<String>) -> Self {
        self.definition.description = Some(text.into());
        self
    }

    /// The media type that all of them have.
    #[must_use]
    pub fn mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.definition.mime_type = Some(mime_type.into());
        self
    }

    /// Hints on whom they are for.
    #[must_use]
    pub fn annotations(mut self, annotations: Annotations) -> Self {
        self.definition.annotations = Some(annotations);
        self
    }

    /// Pictures of them.
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

    /// Completes a variable: see [`Completion`](crate::Completion).
    #[must_use]
    pub fn complete<F, Fut>(mut self, variable: impl Into<String>, complete: F) -> Self
    where
        F: Fn(Cx<S>, crate::Completion) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Vec<String>> + Send + 'static,
    {
        self.completers.push((variable.into(), erase_completer(complete)));
        self
    }

    pub(crate) fn erase(self, state: &Arc<S>) -> Result<(Box<str>, TemplateEntry), BuildError> {
        let Self {
            definition,
            read,
            completers,
        } = self;
        let template = UriTemplate::parse(&definition.uri_template)
            .map_err(|error| BuildError::new(format!("resource template: {error}")))?;
        for (variable, _) in &completers {
            if template.variables().all(|known| known != variable) {
                return Err(BuildError::new(format!(
                    "resource template {:?} has no variable {variable:?} to complete",
                    definition.uri_template
                )));
            }
        }
        let read = read(definition.mime_type.clone());
        let owned = Arc::clone(state);
        let text = definition.uri_template.as_str().into();
        let entry = TemplateEntry {
            template,
            definition,
            read: Box::new(move |base, uri, values| read(base, Arc::clone(&owned), uri, values)),
            completers: completers
                .into_iter()
                .map(|(name, with)| (name, with(Arc::clone(state))))
                .collect(),
        };
        Ok((text, entry))
    }
}

/// A registered template.
pub(crate) struct TemplateEntry {
    pub(crate) template: UriTemplate,
    pub(crate) definition: mcp_types::ResourceTemplate,
    pub(crate) read: Box<dyn Fn(Base, String, Map<String>) -> ReadFuture + Send + Sync>,
    pub(crate) completers: Vec<(String, Completer)>,
}
