use super::{Annotations, Icon, Resource, ResourceContents};
use crate::Revision;
use crate::entity::{entity, tagged};
use crate::value::Meta;
use crate::wire::{Wire, Writer};

tagged! {
    /// A piece of what a tool, a prompt or a model says.
    ContentBlock by "type" {
        /// Text.
        Text(TextContent) = "text",
        /// A picture.
        Image(ImageContent) = "image",
        /// Sound. Before 2025-03-26 written as a text that says so.
        Audio(AudioContent) = "audio",
        /// A resource that can be read. Before 2025-06-18 written as a text that names it.
        ResourceLink(ResourceLink) = "resource_link",
        /// A resource, embedded.
        Resource(EmbeddedResource) = "resource",
    }
}

impl ContentBlock {
    /// A text block.
    pub fn text(text: impl Into<String>) -> Self {
        TextContent::new(text).into()
    }

    /// A picture, in Base64.
    pub fn image(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        ImageContent::new(data, mime_type).into()
    }

    /// Sound, in Base64.
    pub fn audio(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        AudioContent::new(data, mime_type).into()
    }

    /// A link to a resource.
    pub fn resource_link(link: impl Into<ResourceLink>) -> Self {
        ContentBlock::ResourceLink(link.into())
    }

    /// An embedded resource.
    pub fn resource(contents: impl Into<ResourceContents>) -> Self {
        EmbeddedResource::new(contents).into()
    }

    /// The text of a text block.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            ContentBlock::Text(block) => Some(&block.text),
            _ => None,
        }
    }
}

impl From<&str> for ContentBlock {
    fn from(text: &str) -> Self {
        ContentBlock::text(text)
    }
}

impl From<String> for ContentBlock {
    fn from(text: String) -> Self {
        ContentBlock::text(text)
    }
}

impl Wire for ContentBlock {
    fn write(&self, out: &mut Writer<'_>) {
        match self {
            ContentBlock::Audio(audio) if out.is_before(Revision::V2025_03_26) => audio.note().write(out),
            ContentBlock::ResourceLink(link) if out.is_before(Revision::V2025_06_18) => {
                link.note().write(out)
            }
            other => other.write_plain(out),
        }
    }
}

entity! {
    /// Text.
    TextContent [tag "type" "text"] {
        /// The text.
        required text: String = "text",
        /// Hints for the client.
        optional annotations/with_annotations: Annotations = "annotations",
        /// Metadata.
        object meta/with_meta: Meta = "_meta",
    }
}

entity! {
    /// A picture.
    ImageContent [tag "type" "image"] {
        /// The bytes in Base64.
        required data: String = "data",
        /// Media type.
        required mime_type: String = "mimeType",
        /// Hints for the client.
        optional annotations/with_annotations: Annotations = "annotations",
        /// Metadata.
        object meta/with_meta: Meta = "_meta",
    }
}

entity! {
    /// Sound.
    AudioContent [tag "type" "audio"] {
        /// The bytes in Base64.
        required data: String = "data",
        /// Media type.
        required mime_type: String = "mimeType",
        /// Hints for the client.
        optional annotations/with_annotations: Annotations = "annotations",
        /// Metadata.
        object meta/with_meta: Meta = "_meta",
    }
}

impl AudioContent {
    /// What stands in its place where audio does not exist.
    pub(crate) fn note(&self) -> TextContent {
        TextContent {
            annotations: self.annotations.clone(),
            ..TextContent::new(format!(
                "[audio left out, {}: this protocol revision has no audio]",
                self.mime_type
            ))
        }
    }
}

entity! {
    /// A resource that can be read from the server. It need not be in the list of resources.
    ResourceLink [tag "type" "resource_link"] {
        /// Where it is.
        required uri: String = "uri",
        /// Programmatic name.
        required name: String = "name",
        /// Name for people.
        optional title/with_title: String = "title",
        /// What it is, for the model.
        optional description/with_description: String = "description",
        /// Media type.
        optional mime_type/with_mime_type: String = "mimeType",
        /// Size in bytes, before any encoding.
        optional size/with_size: u64 = "size",
        /// Hints for the client.
        optional annotations/with_annotations: Annotations = "annotations",
        /// Pictures of it.
        list icons/with_icons: Icon = "icons",
        /// Metadata.
        object meta/with_meta: Meta = "_meta",
    }
}

impl ResourceLink {
    /// What stands in its place where links do not exist.
    fn note(&self) -> TextContent {
        let name = self.title.as_ref().unwrap_or(&self.name);
        TextContent {
            annotations: self.annotations.clone(),
            ..TextContent::new(format!("{name}: {}", self.uri))
        }
    }
}

impl From<Resource> for ResourceLink {
    fn from(resource: Resource) -> Self {
        Self {
            uri: resource.uri,
            name: resource.name,
            title: resource.title,
            description: resource.description,
            mime_type: resource.mime_type,
            size: resource.size,
            annotations: resource.annotations,
            icons: resource.icons,
            meta: resource.meta,
            extra: resource.extra,
        }
    }
}

entity! {
    /// The contents of a resource, as a part of something else.
    EmbeddedResource [tag "type" "resource"] {
        /// The contents.
        required resource: ResourceContents = "resource",
        /// Hints for the client.
        optional annotations/with_annotations: Annotations = "annotations",
        /// Metadata.
        object meta/with_meta: Meta = "_meta",
    }
}
