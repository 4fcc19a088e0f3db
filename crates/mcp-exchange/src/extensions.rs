use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;

/// Values that travel with an exchange, one for each type: what a transport or a layer knows and a handler may
/// want, such as the parts of an HTTP request.
#[derive(Default)]
pub struct Extensions(HashMap<TypeId, Box<dyn Any + Send + Sync>>);

impl Extensions {
    /// Stores a value, and returns the earlier one of its type.
    pub fn insert<T: Send + Sync + 'static>(&mut self, value: T) -> Option<T> {
        self.0
            .insert(TypeId::of::<T>(), Box::new(value))
            .and_then(|old| old.downcast().ok())
            .map(|old| *old)
    }

    /// The value of this type.
    pub fn get<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.0.get(&TypeId::of::<T>())?.downcast_ref()
    }
}

impl fmt::Debug for Extensions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Extensions({})", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::Extensions;

    #[test]
    fn one_value_for_each_type() {
        let mut extensions = Extensions::default();
        assert_eq!(extensions.insert(1u8), None);
        assert_eq!(extensions.insert(2u8), Some(1));
        assert_eq!(extensions.get::<u8>(), Some(&2));
        assert_eq!(extensions.get::<u16>(), None);
    }
}
