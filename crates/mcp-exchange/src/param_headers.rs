/// The headers `Mcp-Param-*` of a request: arguments that its caller repeated where a proxy can read them
/// (2026-07-28: basic/transports, "Custom Headers from Tool Parameters").
///
/// Among the [`Extensions`](crate::Extensions) of a `tools/call` that came over a transport with such headers, even where
/// it had none; a server compares them with the arguments.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ParamHeaders(Vec<(Box<str>, Option<Box<str>>)>);

/// What a request's headers say of one argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParamHeader<'a> {
    /// Nothing.
    Absent,
    /// This text, decoded.
    Text(&'a str),
    /// Something that cannot be decoded, or two things at once.
    Malformed,
}

impl ParamHeaders {
    /// No headers.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a header: its name behind `Mcp-Param-`, and its decoded value, or none where it cannot be decoded.
    pub fn push(&mut self, name: &str, value: Option<&str>) {
        self.0.push((name.into(), value.map(Into::into)));
    }

    /// Names and values of those that can be decoded.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0
            .iter()
            .filter_map(|(name, value)| Some((&**name, value.as_deref()?)))
    }

    /// What the header of this name says; names match without case.
    pub fn get(&self, name: &str) -> ParamHeader<'_> {
        let mut found = ParamHeader::Absent;
        for (key, value) in &self.0 {
            if key.eq_ignore_ascii_case(name) {
                found = match (found, value) {
                    (ParamHeader::Absent, Some(value)) => ParamHeader::Text(value),
                    _ => return ParamHeader::Malformed,
                };
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_match_without_case_and_two_values_are_none() {
        let mut headers = ParamHeaders::new();
        headers.push("region", Some("eu"));
        headers.push("bad", None);
        headers.push("twice", Some("a"));
        headers.push("Twice", Some("b"));
        assert_eq!(headers.get("Region"), ParamHeader::Text("eu"));
        assert_eq!(headers.get("bad"), ParamHeader::Malformed);
        assert_eq!(headers.get("twice"), ParamHeader::Malformed);
        assert_eq!(headers.get("other"), ParamHeader::Absent);
    }
}
