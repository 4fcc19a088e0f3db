use crate::entity::{entity, tagged};
use crate::value::{Map, Meta};
use crate::wire::{Wire, Writer};

tagged! {
    /// What is being filled in.
    CompletionReference by "type" {
        /// An argument of a prompt.
        Prompt(PromptReference) = "ref/prompt",
        /// A variable of a resource template.
        Resource(ResourceTemplateReference) = "ref/resource",
    }
}

impl Wire for CompletionReference {
    fn write(&self, out: &mut Writer<'_>) {
        self.write_plain(out);
    }
}

entity! {
    /// A prompt, by name.
    PromptReference [tag "type" "ref/prompt"] {
        /// Its name.
        required name: String = "name",
        /// Name for people.
        optional title/with_title: String = "title",
    }
}

entity! {
    /// A resource or a template, by URI.
    ResourceTemplateReference [tag "type" "ref/resource"] {
        /// The URI or the template.
        required uri: String = "uri",
    }
}

entity! {
    /// The argument to complete.
    CompletionArgument {
        /// Its name.
        required name: String = "name",
        /// What was typed so far.
        required value: String = "value",
    }
}

entity! {
    /// What is known already.
    #[derive(Default)]
    CompletionContext {
        /// Other arguments, already filled in.
        object arguments/with_arguments: Map<String> = "arguments",
    }
}

entity! {
    /// Parameters of `completion/complete`.
    CompleteParams {
        /// What is being filled in.
        required reference: CompletionReference = "ref",
        /// The argument to complete.
        required argument: CompletionArgument = "argument",
        /// What is known already.
        optional context/with_context: CompletionContext = "context",
        /// Metadata.
        object meta/with_meta: Meta = "_meta",
    }
}

entity! {
    /// Proposals, best first.
    #[derive(Default)]
    Completion {
        /// At most [`Completion::MAX_VALUES`] of them.
        expected values: Vec<String> = "values",
        /// How many there are in all.
        optional total/with_total: u64 = "total",
        /// Whether there are more than these.
        optional has_more/with_has_more: bool = "hasMore",
    }
}

impl Completion {
    /// More values than this may not be sent.
    pub const MAX_VALUES: usize = 100;

    /// The first [`Completion::MAX_VALUES`] of `all`, with the count of all.
    pub fn first_of(all: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let mut values: Vec<String> = all.into_iter().map(Into::into).collect();
        let total = values.len();
        values.truncate(Self::MAX_VALUES);
        Self::new(values)
            .with_total(total as u64)
            .with_has_more(total > Self::MAX_VALUES)
    }
}

entity! {
    /// Result of `completion/complete`.
    CompleteResult [result] {
        /// The proposals.
        required completion: Completion = "completion",
        /// Metadata.
        object meta/with_meta: Meta = "_meta",
    }
}
