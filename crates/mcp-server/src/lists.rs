use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

use mcp_jsonrpc::{ErrorObject, RawJson};
use mcp_types::Revision;

use crate::prompt::PromptEntry;
use crate::resource::{ResourceEntry, TemplateEntry};
use crate::tool::ToolEntry;

/// What a server has, as one request sees it: sorted, unchanging, shared.
#[derive(Default)]
pub(crate) struct Lists {
    pub(crate) tools: BTreeMap<Box<str>, Arc<ToolEntry>>,
    pub(crate) resources: BTreeMap<Box<str>, Arc<ResourceEntry>>,
    pub(crate) templates: BTreeMap<Box<str>, Arc<TemplateEntry>>,
    pub(crate) prompts: BTreeMap<Box<str>, Arc<PromptEntry>>,
    /// Lists that were encoded whole, by list and revision.
    encoded: [[OnceLock<RawJson>; Revision::ALL.len()]; 4],
}

/// One of the four lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ListKind {
    Tools,
    Resources,
    Templates,
    Prompts,
}

impl ListKind {
    /// What a cursor of this list begins with; the key after which the page starts follows. Opaque to clients, and
    /// no cursor of another list.
    fn cursor(self) -> &'static str {
        match self {
            ListKind::Tools => "tool:",
            ListKind::Resources => "resource:",
            ListKind::Templates => "template:",
            ListKind::Prompts => "prompt:",
        }
    }
}

impl Lists {
    fn with(&self) -> Self {
        Self {
            tools: self.tools.clone(),
            resources: self.resources.clone(),
            templates: self.templates.clone(),
            prompts: self.prompts.clone(),
            encoded: Default::default(),
        }
    }

    pub(crate) fn has_completers(&self) -> bool {
        self.prompts.values().any(|entry| !entry.completers.is_empty())
            || self.templates.values().any(|entry| !entry.completers.is_empty())
    }

    /// A list that was encoded before for this revision, or is now.
    pub(crate) fn encoded(
        &self,
        kind: ListKind,
        revision: Revision,
        encode: impl FnOnce() -> Result<RawJson, ErrorObject>,
    ) -> Result<RawJson, ErrorObject> {
        let at = Revision::ALL
            .iter()
            .position(|known| *known == revision)
            .unwrap_or_default();
        let slot = &self.encoded[kind as usize][at];
        if let Some(known) = slot.get() {
            return Ok(known.clone());
        }
        let fresh = encode()?;
        Ok(slot.get_or_init(|| fresh).clone())
    }
}

/// The lists, replaced as a whole at each change.
#[derive(Default)]
pub(crate) struct Registry {
    now: RwLock<Arc<Lists>>,
    changing: Mutex<()>,
}

impl Registry {
    pub(crate) fn new(lists: Lists) -> Self {
        Self {
            now: RwLock::new(Arc::new(lists)),
            changing: Mutex::new(()),
        }
    }

    pub(crate) fn now(&self) -> Arc<Lists> {
        Arc::clone(&self.now.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Changes a copy and puts it in place, unless `change` says that nothing changed.
    pub(crate) fn change(&self, change: impl FnOnce(&mut Lists) -> bool) -> bool {
        let _one = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut next = self.now().with();
        let changed = change(&mut next);
        if changed {
            *self.now.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(next);
        }
        changed
    }
}

/// One page of a sorted list: the entries, and the cursor of the next page. Pages stay right while the list changes,
/// since a cursor names the last key that was seen.
pub(crate) fn page<'a, T: Clone + 'a>(
    kind: ListKind,
    entries: impl Iterator<Item = (&'a str, &'a T)>,
    cursor: Option<&str>,
    size: Option<usize>,
) -> Result<(Vec<T>, Option<String>), ErrorObject> {
    let mark = kind.cursor();
    let after = match cursor {
        None => None,
        Some(cursor) => {
            let bad = || ErrorObject::invalid_params("Invalid params: unknown cursor");
            Some(cursor.strip_prefix(mark).ok_or_else(bad)?)
        }
    };
    let mut rest = entries
        .skip_while(|(key, _)| after.is_some_and(|after| *key <= after))
        .peekable();
    let size = size.unwrap_or(usize::MAX).max(1);
    let (mut items, mut last) = (Vec::new(), None);
    while items.len() < size {
        let Some((key, item)) = rest.next() else { break };
        last = Some(key);
        items.push(item.clone());
    }
    let next = rest.peek().and(last).map(|last| format!("{mark}{last}"));
    Ok((items, next))
}

#[cfg(test)]
mod tests {
    use super::{ListKind, page};

    fn entries<'a>(keys: &'a [&'a str]) -> impl Iterator<Item = (&'a str, &'a &'a str)> {
        keys.iter().map(|key| (*key, key))
    }

    #[test]
    fn p139_pages_follow_each_other_and_the_last_has_no_cursor() {
        let all = ["a", "b", "c", "d", "e"];
        let page = |cursor: Option<&str>, size| page(ListKind::Tools, entries(&all), cursor, size).unwrap();
        let (first, next) = page(None, Some(2));
        assert_eq!(first, ["a", "b"]);
        let (second, next) = page(next.as_deref(), Some(2));
        assert_eq!(second, ["c", "d"]);
        let (third, next) = page(next.as_deref(), Some(2));
        assert_eq!((third, next), (vec!["e"], None));
        assert_eq!(page(None, None).1, None);
    }

    #[test]
    fn a_cursor_outlives_the_entry_that_it_names_and_a_strange_one_is_refused() {
        let page = |cursor| page(ListKind::Tools, entries(&["a", "c"]), Some(cursor), None);
        assert_eq!(page("tool:b").unwrap().0, ["c"]);
        for bad in ["", "8", "prompt:a"] {
            assert_eq!(page(bad).unwrap_err().code, -32602, "{bad:?}");
        }
    }
}
