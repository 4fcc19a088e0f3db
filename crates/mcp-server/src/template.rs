//! URI templates (RFC 6570, levels 1 to 3) and their reverse: which values make a template into a given URI.

use std::borrow::Cow;

use mcp_types::Map;

/// The longest URI that is matched, in bytes.
const MAX_URI: usize = 8 * 1024;

/// A parsed URI template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UriTemplate {
    text: String,
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    /// Percent-decoded, so that both spellings match (P153).
    Literal(Vec<u8>),
    Expression {
        operator: Operator,
        names: Vec<String>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Simple,
    Reserved,
    Fragment,
    Label,
    Path,
    Parameter,
    Query,
    Continuation,
}

impl Operator {
    fn of(c: char) -> Option<Self> {
        Some(match c {
            '+' => Operator::Reserved,
            '#' => Operator::Fragment,
            '.' => Operator::Label,
            '/' => Operator::Path,
            ';' => Operator::Parameter,
            '?' => Operator::Query,
            '&' => Operator::Continuation,
            _ => return None,
        })
    }

    fn first(self) -> &'static str {
        match self {
            Operator::Simple | Operator::Reserved => "",
            Operator::Fragment => "#",
            Operator::Label => ".",
            Operator::Path => "/",
            Operator::Parameter => ";",
            Operator::Query => "?",
            Operator::Continuation => "&",
        }
    }

    fn separator(self) -> &'static str {
        match self {
            Operator::Simple | Operator::Reserved | Operator::Fragment => ",",
            Operator::Label => ".",
            Operator::Path => "/",
            Operator::Parameter => ";",
            Operator::Query | Operator::Continuation => "&",
        }
    }

    fn is_named(self) -> bool {
        matches!(
            self,
            Operator::Parameter | Operator::Query | Operator::Continuation
        )
    }

    fn keeps_reserved(self) -> bool {
        matches!(self, Operator::Reserved | Operator::Fragment)
    }
}

/// Why a template or a URI cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TemplateError(Cow<'static, str>);

impl UriTemplate {
    /// Parses a template.
    ///
    /// # Errors
    /// When braces do not match, a name is empty, or a level-4 modifier (`*`, `:n`) is used.
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some(open) = rest.find(['{', '}']) {
            if rest.as_bytes()[open] == b'}' {
                return Err(TemplateError(
                    format!("URI template {text:?}: '}}' without '{{'").into(),
                ));
            }
            if open > 0 {
                parts.push(Part::Literal(decode(&rest[..open])?));
            }
            let Some(length) = rest[open..].find('}') else {
                return Err(TemplateError(
                    format!("URI template {text:?}: '{{' without '}}'").into(),
                ));
            };
            let inside = &rest[open + 1..open + length];
            let operator = inside.chars().next().and_then(Operator::of);
            let names = &inside[usize::from(operator.is_some())..];
            let names: Vec<String> = names.split(',').map(str::to_owned).collect();
            let legal = |name: &String| {
                !name.is_empty()
                    && name
                        .chars()
                        .all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | '%'))
            };
            if !names.iter().all(legal) {
                return Err(TemplateError(
                    format!("URI template {text:?}: {{{inside}}} cannot be used").into(),
                ));
            }
            parts.push(Part::Expression {
                operator: operator.unwrap_or(Operator::Simple),
                names,
            });
            rest = &rest[open + length + 1..];
        }
        if !rest.is_empty() {
            parts.push(Part::Literal(decode(rest)?));
        }
        Ok(Self {
            text: text.to_owned(),
            parts,
        })
    }

    /// The template's text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The names of its variables, in order.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        self.parts
            .iter()
            .flat_map(|part| match part {
                Part::Literal(_) => [].iter(),
                Part::Expression { names, .. } => names.iter(),
            })
            .map(String::as_str)
    }

    /// The URI that these values make. A variable without a value is left out.
    pub fn expand(&self, values: &Map<String>) -> String {
        let mut out = String::new();
        for part in &self.parts {
            match part {
                Part::Literal(bytes) => encode(&mut out, &String::from_utf8_lossy(bytes), true),
                Part::Expression { operator, names } => {
                    let mut between = operator.first();
                    for name in names {
                        let Some(value) = values.get(name) else { continue };
                        out.push_str(between);
                        between = operator.separator();
                        if operator.is_named() {
                            out.push_str(name);
                            if !(value.is_empty() && *operator == Operator::Parameter) {
                                out.push('=');
                            }
                        }
                        encode(&mut out, value, operator.keeps_reserved());
                    }
                }
            }
        }
        out
    }

    /// The values that make this template into `uri`, each percent-decoded once. None where it is another URI.
    ///
    /// Takes time linear in both texts: a value ends where the next literal first occurs.
    ///
    /// # Errors
    /// When the URI matches but a value in it is broken: a bad percent escape, or no UTF-8 behind it (P152).
    pub fn matches(&self, uri: &str) -> Result<Option<Map<String>>, TemplateError> {
        if uri.len() > MAX_URI {
            return Ok(None);
        }
        let mut values = Map::new();
        let mut rest = uri;
        let mut broken = None;
        for (at, part) in self.parts.iter().enumerate() {
            match part {
                Part::Literal(literal) => match strip_literal(rest, literal) {
                    Some(after) => rest = after,
                    None => return Ok(None),
                },
                Part::Expression { operator, names } => {
                    let next = self.parts.get(at + 1);
                    let Some(after) = take(*operator, names, next, rest, &mut values, &mut broken) else {
                        return Ok(None);
                    };
                    rest = after;
                }
            }
        }
        match (rest.is_empty(), broken) {
            (false, _) => Ok(None),
            (true, Some(error)) => Err(error),
            (true, None) => Ok(Some(values)),
        }
    }
}

/// Takes what one expression stands for from the front of `rest`.
fn take<'u>(
    operator: Operator,
    names: &[String],
    next: Option<&Part>,
    rest: &'u str,
    values: &mut Map<String>,
    broken: &mut Option<TemplateError>,
) -> Option<&'u str> {
    let end = match next {
        Some(Part::Literal(literal)) => find_literal(rest, literal)?,
        Some(Part::Expression {
            operator: following, ..
        }) if !following.first().is_empty() => rest.find(following.first()).unwrap_or(rest.len()),
        // Two values side by side: the first takes everything it may.
        _ => rest.len(),
    };
    let mut span = &rest[..end];
    if !operator.first().is_empty() {
        match span.strip_prefix(operator.first()) {
            Some(after) => span = after,
            // No value was given.
            None if span.is_empty() => return Some(&rest[end..]),
            None => return None,
        }
    }
    let mut put = |name: &str, value: &str| match decode(value).map(String::from_utf8) {
        Ok(Ok(text)) => {
            values.insert(name, text);
        }
        Ok(Err(_)) => *broken = Some(TemplateError(format!("variable {name} is not UTF-8").into())),
        Err(error) => *broken = Some(error),
    };
    if operator.is_named() {
        for pair in span.split(operator.separator()).filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            // In any order; what the template does not name makes it another URI.
            put(names.iter().find(|known| *known == name)?, value);
        }
        return Some(&rest[end..]);
    }
    let mut pieces = span.splitn(names.len(), operator.separator());
    for name in names {
        let Some(value) = pieces.next() else { break };
        // A simple value never holds what separates path segments or parts of a URI.
        if !operator.keeps_reserved() && value.contains(['/', '?', '#']) {
            return None;
        }
        if value.is_empty() && operator == Operator::Simple {
            return None;
        }
        put(name, value);
    }
    Some(&rest[end..])
}

/// The rest of `text` behind this literal, where it begins with it in either spelling.
fn strip_literal<'u>(text: &'u str, literal: &[u8]) -> Option<&'u str> {
    let mut at = 0;
    for &expected in literal {
        let (byte, width) = byte_at(text.as_bytes(), at)?;
        if byte != expected {
            return None;
        }
        at += width;
    }
    text.get(at..)
}

/// Where the literal first occurs, in either spelling.
fn find_literal(text: &str, literal: &[u8]) -> Option<usize> {
    (0..text.len()).find(|&at| text.is_char_boundary(at) && strip_literal(&text[at..], literal).is_some())
}

/// The byte at `at`, percent-decoded, and how many bytes of text it takes.
fn byte_at(text: &[u8], at: usize) -> Option<(u8, usize)> {
    match text.get(at)? {
        b'%' => match text.get(at + 1..at + 3).and_then(hex_pair) {
            Some(byte) => Some((byte, 3)),
            None => Some((b'%', 1)),
        },
        &byte => Some((byte, 1)),
    }
}

fn hex_pair(pair: &[u8]) -> Option<u8> {
    let digit = |b: u8| (b as char).to_digit(16);
    u8::try_from(digit(pair[0])? * 16 + digit(pair[1])?).ok()
}

/// Percent-decodes once; `+` stays (P152).
fn decode(text: &str) -> Result<Vec<u8>, TemplateError> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some((byte, width)) = byte_at(bytes, at) {
        if byte == b'%' && width == 1 {
            return Err(TemplateError(format!("broken percent escape in {text:?}").into()));
        }
        out.push(byte);
        at += width;
    }
    Ok(out)
}

fn encode(out: &mut String, text: &str, keep_reserved: bool) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    for &byte in text.as_bytes() {
        let plain = byte.is_ascii_alphanumeric()
            || b"-._~".contains(&byte)
            || keep_reserved && b":/?#[]@!$&'()*+,;=".contains(&byte);
        if plain {
            out.push(byte as char);
        } else {
            out.push('%');
            out.push(HEX[usize::from(byte >> 4)] as char);
            out.push(HEX[usize::from(byte & 15)] as char);
        }
    }
}
