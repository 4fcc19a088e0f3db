//! Questions of servers to the person at the terminal.

use std::io::{BufRead, IsTerminal, Write};
use std::sync::Arc;

use mcp_client::ClientBuilder;
use mcp_jsonrpc::RawJson;
use mcp_types::{ElicitFormParams, ElicitResult, ElicitSchema, JsonObject};

use crate::screen;

/// How often a field may be filled in wrongly before the question counts as given up.
const TRIES: usize = 3;

/// Lets a server ask by forms, where there is somebody to answer. One question at a time over all servers.
#[derive(Debug, Clone, Default)]
pub(crate) struct Terminal(Arc<tokio::sync::Mutex<()>>);

impl Terminal {
    pub(crate) fn set_up(&self, server: &str, builder: ClientBuilder) -> ClientBuilder {
        if !(std::io::stdin().is_terminal() && std::io::stderr().is_terminal()) {
            return builder;
        }
        let (server, turn) = (screen::one_line(server), Arc::clone(&self.0));
        builder.on_elicit(move |form| {
            let (server, turn) = (server.clone(), Arc::clone(&turn));
            async move {
                let _turn = turn.lock().await;
                let asked = tokio::task::spawn_blocking(move || {
                    ask(
                        &server,
                        &form,
                        &mut std::io::stdin().lock(),
                        &mut std::io::stderr(),
                    )
                });
                asked.await.unwrap_or_else(|_| ElicitResult::cancel())
            }
        })
    }
}

/// Puts one form to a person. Everything that the server wrote is shown safely, and with its name in front.
fn ask(
    server: &str,
    form: &ElicitFormParams,
    input: &mut impl BufRead,
    out: &mut impl Write,
) -> ElicitResult {
    // Where nothing can be shown, nothing is agreed to: the read below ends the same way.
    let _ = write!(
        out,
        "The server {server} asks:\n{}Agree? [y/N] ",
        screen::indented(&form.message, 4)
    );
    let _ = out.flush();
    match line(input) {
        None => return ElicitResult::cancel(),
        Some(answer) if !matches!(answer.to_lowercase().as_str(), "y" | "yes") => {
            return ElicitResult::decline();
        }
        Some(_) => {}
    }
    let schema = &form.requested_schema;
    let mut content = JsonObject::new();
    for (name, property) in schema.properties.iter() {
        let required = schema.required.iter().any(|required| required == name);
        let only = ElicitSchema::default().required(name.to_owned(), property.clone());
        let about = RawJson::encode(property)
            .map(|json| json.as_str().to_owned())
            .unwrap_or_default();
        let hint = if required { "" } else { ", may stay empty" };
        let mut value = None;
        for _ in 0..TRIES {
            let _ = write!(
                out,
                "{} ({}{hint}): ",
                screen::one_line(name),
                screen::one_line(&about)
            );
            let _ = out.flush();
            let Some(text) = line(input) else {
                return ElicitResult::cancel();
            };
            if text.is_empty() && !required {
                break;
            }
            match fitting(&only, name, &text) {
                Ok(found) => {
                    value = Some(found);
                    break;
                }
                Err(why) => {
                    let _ = writeln!(out, "{}", screen::one_line(&why));
                }
            }
        }
        match value {
            Some(value) => {
                content.insert(name.to_owned(), value);
            }
            None if required => return ElicitResult::cancel(),
            None => {}
        }
    }
    ElicitResult::accept(content)
}

/// What was typed as a value that the field takes: text as it is, else as JSON (`true`, `3`, `["a"]`).
fn fitting(only: &ElicitSchema, name: &str, text: &str) -> Result<RawJson, String> {
    let as_text = RawJson::encode(text).map_err(|error| error.to_string())?;
    let as_json = RawJson::from_text(text).ok();
    let mut why = String::new();
    for value in std::iter::once(as_text).chain(as_json) {
        let content = JsonObject::from([(name.to_owned(), value.clone())]);
        let checked = RawJson::encode(&content).map_err(|error| error.to_string())?;
        match only.check(&checked) {
            Ok(()) => return Ok(value),
            Err(error) => why = error.to_string(),
        }
    }
    Err(why)
}

/// One line without its end; none at the end of the input.
fn line(input: &mut impl BufRead) -> Option<String> {
    let mut text = String::new();
    match input.read_line(&mut text) {
        Ok(read) if read > 0 => Some(text.trim().to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use mcp_types::{BooleanSchema, ElicitAction, NumberSchema, StringSchema};

    use super::*;

    fn answer(schema: ElicitSchema, typed: &str) -> (ElicitResult, String) {
        let form = ElicitFormParams::new("really\u{1b}[2J?", schema);
        let mut shown = Vec::new();
        let result = ask("files", &form, &mut typed.as_bytes(), &mut shown);
        (result, String::from_utf8(shown).unwrap())
    }

    #[test]
    fn only_a_clear_yes_is_agreement() {
        for (typed, action) in [
            ("y\n", ElicitAction::Accept),
            ("YES\n", ElicitAction::Accept),
            ("n\n", ElicitAction::Decline),
            ("\n", ElicitAction::Decline),
            ("sure\n", ElicitAction::Decline),
            ("", ElicitAction::Cancel),
        ] {
            let (result, shown) = answer(ElicitSchema::default(), typed);
            assert_eq!(result.action, action, "{typed:?}");
            assert!(
                shown.starts_with("The server files asks:\n    really⟦U+001B⟧[2J?\n"),
                "{shown}"
            );
        }
    }

    #[test]
    fn fields_are_read_as_their_kind() {
        let schema = ElicitSchema::default()
            .required("name", StringSchema::default())
            .required("count", NumberSchema::default())
            .optional("sure", BooleanSchema::default());
        let (result, _) = answer(schema.clone(), "y\n12\nmany\n3\n\n");
        let content = RawJson::encode(&result.content.unwrap()).unwrap();
        assert_eq!(content.as_str(), r#"{"name":"12","count":3}"#);
        let (result, _) = answer(schema.clone(), "y\nAda\n3\ntrue\n");
        let content = RawJson::encode(&result.content.unwrap()).unwrap();
        assert_eq!(content.as_str(), r#"{"name":"Ada","count":3,"sure":true}"#);
        let (result, _) = answer(schema, "y\nAda\na\nb\nc\n");
        assert_eq!(result.action, ElicitAction::Cancel);
    }
}
