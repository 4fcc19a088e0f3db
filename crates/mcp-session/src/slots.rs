use std::collections::HashMap;

use mcp_jsonrpc::RequestId;

/// What waits for an answer, by the id of our request.
///
/// Ids match exactly; a peer that turns our numbers into strings is understood too, never the other way round
/// (P029, P030).
#[derive(Debug)]
pub struct Slots<T> {
    waiting: HashMap<RequestId, T>,
}

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Self {
            waiting: HashMap::new(),
        }
    }
}

impl<T> Slots<T> {
    /// Remembers what waits for the answer to this id. Gives it back where the id is already waiting.
    ///
    /// # Errors
    /// The value, where the id is in use.
    pub fn insert(&mut self, id: RequestId, value: T) -> Result<(), T> {
        use std::collections::hash_map::Entry;
        match self.waiting.entry(id) {
            Entry::Occupied(_) => Err(value),
            Entry::Vacant(entry) => {
                entry.insert(value);
                Ok(())
            }
        }
    }

    /// What waits under this id.
    pub fn get(&self, id: &RequestId) -> Option<&T> {
        self.waiting.get(id)
    }

    /// Takes what waits for this answer.
    pub fn take(&mut self, answer: &RequestId) -> Option<T> {
        if let Some(value) = self.waiting.remove(answer) {
            return Some(value);
        }
        let RequestId::String(text) = answer else {
            return None;
        };
        let number = RequestId::Number(text.parse().ok()?);
        if number.is_answered_by(answer) {
            self.waiting.remove(&number)
        } else {
            None
        }
    }

    /// Takes everything, at the end of a connection.
    pub fn take_all(&mut self) -> Vec<T> {
        self.waiting.drain().map(|(_, value)| value).collect()
    }

    /// How many wait.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Whether none waits.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// All that wait.
    pub fn values(&self) -> impl Iterator<Item = &T> {
        self.waiting.values()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_and_its_text_are_different_keys_while_both_wait() {
        let mut slots = Slots::default();
        slots.insert(1.into(), "number").unwrap();
        slots.insert("1".into(), "text").unwrap();
        assert_eq!(slots.take(&"1".into()), Some("text"));
        assert_eq!(slots.take(&1.into()), Some("number"));
        assert_eq!(slots.take(&1.into()), None);
    }

    #[test]
    fn the_text_of_a_waiting_number_answers_it() {
        let mut slots = Slots::default();
        slots.insert(0.into(), ()).unwrap();
        assert_eq!(slots.take(&"00".into()), None);
        assert_eq!(slots.take(&"0".into()), Some(()));
        slots.insert("7".into(), ()).unwrap();
        assert_eq!(slots.take(&7.into()), None);
    }

    #[test]
    fn an_id_in_use_is_refused_and_the_first_stays() {
        let mut slots = Slots::default();
        slots.insert(4.into(), "first").unwrap();
        assert_eq!(slots.insert(4.into(), "second"), Err("second"));
        assert_eq!(slots.take(&4.into()), Some("first"));
    }

    #[test]
    fn text_that_only_looks_like_a_number_answers_nothing() {
        let mut slots = Slots::default();
        slots.insert((-5).into(), ()).unwrap();
        slots.insert(7.into(), ()).unwrap();
        for stranger in ["+7", "07", " 7", "7 ", "7.0", "-05", "", "9223372036854775808"] {
            assert_eq!(slots.take(&stranger.into()), None, "{stranger}");
        }
        assert_eq!(slots.take(&"-5".into()), Some(()));
        assert_eq!(slots.len(), 1);
        assert_eq!(slots.take_all().len(), 1);
        assert!(slots.is_empty());
    }
}
