use crate::entity::entity;
use crate::value::Meta;

entity! {
    /// A place that the client lets the server work in. Guidance, not access control.
    Root {
        /// A `file:` URI.
        required uri: String = "uri",
        /// Name for people.
        optional name/with_name: String = "name",
        /// Metadata.
        object meta/with_meta: Meta = "_meta",
    }
}

entity! {
    /// Result of `roots/list`.
    ListRootsResult {
        /// All roots.
        required roots: Vec<Root> = "roots",
        /// Metadata.
        object meta/with_meta: Meta = "_meta",
    }
}
