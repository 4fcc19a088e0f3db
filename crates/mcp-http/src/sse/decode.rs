//! Reading events.
