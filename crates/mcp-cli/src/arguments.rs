//! Arguments of a tool, as given on the command line.

use std::io::Read;

use mcp_jsonrpc::RawJson;

use crate::failure::Failure;

/// Most that is read from a file or from standard input, in bytes.
const LARGEST: u64 = 16 * 1024 * 1024;

/// A JSON object, `@FILE`, or `-` for standard input.
pub(crate) fn read(given: Option<&str>) -> Result<RawJson, Failure> {
    let (text, from) = match given {
        None => return Ok(RawJson::empty_object()),
        Some("-") => (
            all_of(std::io::stdin(), "standard input")?,
            "standard input".to_owned(),
        ),
        Some(file) if file.starts_with('@') => {
            let file = &file[1..];
            let opened = std::fs::File::open(file)
                .map_err(|error| Failure::usage(format!("cannot read the arguments from {file}: {error}")))?;
            (all_of(opened, file)?, file.to_owned())
        }
        Some(text) => (text.to_owned(), "the command line".to_owned()),
    };
    let value = RawJson::from_text(text.trim())
        .map_err(|error| Failure::usage(format!("the arguments from {from} are not JSON: {error}")))?;
    if !value.is_object() {
        return Err(Failure::usage(format!(
            "the arguments from {from} must be a JSON object, such as '{{\"path\":\"todo.md\"}}'"
        )));
    }
    Ok(value)
}

fn all_of(source: impl Read, from: &str) -> Result<String, Failure> {
    let mut text = String::new();
    let read = source.take(LARGEST + 1).read_to_string(&mut text);
    read.map_err(|error| Failure::usage(format!("cannot read the arguments from {from}: {error}")))?;
    if text.len() as u64 > LARGEST {
        return Err(Failure::usage(format!(
            "the arguments from {from} are larger than {LARGEST} bytes"
        )));
    }
    Ok(text)
}
