use crate::entity::{entity, plain_words, words};
use crate::value::{Meta, Millis, Number};

words! {
    /// Who speaks, or who is meant to see something.
    Role {
        /// The human side.
        User = "user",
        /// The model side.
        Assistant = "assistant",
    }
}

words! {
    /// Who may share a cached result.
    #[derive(Default)]
    CacheScope {
        /// All users.
        Public = "public",
        /// Only the authorization context that asked.
        #[default]
        Private = "private",
    }
}

plain_words!(Role, CacheScope);

entity! {
    /// A program that speaks the protocol: its name and version. Display only, never to be trusted.
    #[derive(Default)]
    Implementation {
        /// Programmatic name.
        expected name: String = "name",
        /// Name for people.
        optional title/with_title: String = "title",
        /// Version of the program.
        expected version: String = "version",
        /// What it is.
        optional description/with_description: String = "description",
        /// Home page.
        optional website_url/with_website_url: String = "websiteUrl",
        /// Pictures of it.
        list icons/with_icons: Icon = "icons",
    }
}

entity! {
    /// A picture of something. The source is untrusted: check scheme and origin before fetching it.
    Icon {
        /// An `https:` or `data:` URI.
        required src: String = "src",
        /// Media type, when the source's own is missing or generic.
        optional mime_type/with_mime_type: String = "mimeType",
        /// Sizes such as `48x48`, or `any`.
        list sizes/with_sizes: String = "sizes",
        /// `light` or `dark`: the background it is made for.
        optional theme/with_theme: String = "theme",
    }
}

entity! {
    /// Hints for the client about content or a resource.
    #[derive(Default)]
    Annotations {
        /// For whom it is.
        list audience/with_audience: Role = "audience",
        /// From 0 (optional) to 1 (effectively required).
        optional priority/with_priority: Number = "priority",
        /// ISO 8601 time of the last change.
        optional last_modified/with_last_modified: String = "lastModified",
    }
}

entity! {
    /// The result of a request that answers with nothing.
    #[derive(Default)]
    EmptyResult [result] {
        /// Metadata.
        object meta/with_meta: Meta = "_meta",
    }
}

entity! {
    /// Parameters of a request or notification that has none of its own.
    #[derive(Default)]
    EmptyParams {
        /// Metadata.
        object meta/with_meta: Meta = "_meta",
    }
}

entity! {
    /// Parameters of the list requests.
    #[derive(Default)]
    ListParams {
        /// Where to go on, from the last page's `nextCursor`. Opaque; an empty one is a cursor, too.
        optional cursor/with_cursor: String = "cursor",
        /// Metadata.
        object meta/with_meta: Meta = "_meta",
    }
}

/// How long and with whom a result may be kept (2026-07-28, caching).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CacheHints {
    /// Fresh for so many milliseconds; 0 means stale at once.
    pub ttl_ms: Millis,
    /// With whom.
    pub scope: CacheScope,
}

impl CacheHints {
    /// Hints for a result that stays fresh for `ttl_ms` milliseconds.
    pub fn new(ttl_ms: u64, scope: CacheScope) -> Self {
        Self {
            ttl_ms: Millis(ttl_ms),
            scope,
        }
    }
}

/// Results that carry cache hints in stateless revisions.
macro_rules! cacheable {
    ($($name:ident),*) => { $(
        impl $name {
            /// How long and with whom this may be kept. What the peer left out means: not at all, with nobody.
            pub fn cache_hints(&self) -> $crate::CacheHints {
                $crate::CacheHints {
                    ttl_ms: self.ttl_ms.unwrap_or_default(),
                    scope: self.cache_scope.unwrap_or_default(),
                }
            }

            /// Sets [`ttl_ms`](Self::ttl_ms) and [`cache_scope`](Self::cache_scope).
            #[must_use]
            pub fn with_cache_hints(mut self, hints: $crate::CacheHints) -> Self {
                self.ttl_ms = Some(hints.ttl_ms);
                self.cache_scope = Some(hints.scope);
                self
            }
        }
    )* };
}

pub(crate) use cacheable;
