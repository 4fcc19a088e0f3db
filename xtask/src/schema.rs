//! Checks what goes over the wire against the published schemas.
//!
//! The schemas are no part of this repository. They are looked for in a folder given by the caller, one file for
//! each revision, named by it. 2024-10-07 has none and is checked by that of 2024-11-05.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use jsonschema::Validator;
use mcp_types::{Revision, method};
use serde_json::{Value, json};

pub use mcp_types::method::Side;

/// The published schemas of all revisions.
pub struct SchemaSet {
    schemas: BTreeMap<Revision, Schema>,
    /// Validators by revision and definition; compiling one takes far longer than using it.
    compiled: Mutex<HashMap<(Revision, String), Arc<Validator>>>,
}

struct Schema {
    document: Value,
    /// `definitions` or `$defs`.
    key: &'static str,
    /// Definitions of requests and notifications by method.
    by_method: HashMap<String, String>,
}

impl SchemaSet {
    /// Reads the schemas in `folder`; `None` when there are not all of them.
    pub fn load(folder: &Path) -> Option<SchemaSet> {
        let mut schemas = BTreeMap::new();
        for revision in Revision::ALL.into_iter().skip(1) {
            let bytes = fs::read(folder.join(format!("{revision}.json"))).ok()?;
            schemas.insert(revision, Schema::new(serde_json::from_slice(&bytes).ok()?)?);
        }
        Some(SchemaSet {
            schemas,
            compiled: Mutex::default(),
        })
    }

    /// The folder named by `MCP_SCHEMA_DIR`, else the one beside the workspace.
    pub fn default_folder() -> PathBuf {
        match std::env::var_os("MCP_SCHEMA_DIR") {
            Some(folder) => folder.into(),
            None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/schema"),
        }
    }

    /// Whether `revision` has a definition of this name.
    pub fn defines(&self, revision: Revision, definition: &str) -> bool {
        self.schema(revision)
            .is_some_and(|schema| schema.definition(definition).is_some())
    }

    /// The names of the members that a definition lists, if it is one of an object.
    pub fn members(&self, revision: Revision, definition: &str) -> Option<Vec<String>> {
        let members = self.schema(revision)?.definition(definition)?["properties"].as_object()?;
        Some(members.keys().cloned().collect())
    }

    /// The names of the parameters that the definition of a method lists, if its parameters are one object.
    pub fn parameters(&self, revision: Revision, method: &str) -> Option<Vec<String>> {
        let schema = self.schema(revision)?;
        let params = &schema.definition(schema.by_method.get(method)?)?["properties"]["params"];
        match params["$ref"].as_str() {
            Some(reference) => self.members(revision, reference.rsplit('/').next()?),
            None => Some(params["properties"].as_object()?.keys().cloned().collect()),
        }
    }

    /// Checks a value against a definition of a revision.
    ///
    /// # Errors
    /// What is wrong and where, or that there is no such definition.
    pub fn check(&self, revision: Revision, definition: &str, value: &Value) -> Result<(), String> {
        let validator = self.validator(revision, definition)?;
        let problems: Vec<String> = validator
            .iter_errors(value)
            .take(5)
            .map(|problem| format!("{problem} at {:?}", problem.instance_path().to_string()))
            .collect();
        match problems.is_empty() {
            true => Ok(()),
            false => Err(format!("{definition} of {revision}: {}", problems.join("; "))),
        }
    }

    /// Checks a message that `sender` puts on the wire. Give the method of the request that a response answers.
    ///
    /// # Errors
    /// What is wrong; also a method that the revision does not have, or not for this sender.
    pub fn check_message(
        &self,
        revision: Revision,
        sender: Side,
        message: &Value,
        method_of_request: Option<&str>,
    ) -> Result<(), String> {
        if let Value::Array(batch) = message {
            if revision != Revision::V2025_03_26 {
                return Err(format!("{revision} has no batches"));
            }
            if batch.is_empty() {
                return Err("a batch must not be empty".into());
            }
            return batch
                .iter()
                .try_for_each(|one| self.check_message(revision, sender, one, method_of_request));
        }
        let kind = if message.get("method").is_some() {
            self.check_call(revision, sender, message)
        } else if let Some(result) = message.get("result") {
            let envelope = ["JSONRPCResultResponse", "JSONRPCResponse"];
            self.check_first(revision, &envelope, message)?;
            match method_of_request {
                Some(method) => self.check_result(revision, method, result),
                None => self.check(revision, "Result", result),
            }
        } else {
            self.check_error(revision, message)
        };
        kind.map_err(|problem| format!("{problem}\n  in {message}"))
    }

    fn check_call(&self, revision: Revision, sender: Side, message: &Value) -> Result<(), String> {
        let method = message["method"].as_str().ok_or("the method is no string")?;
        let info = method::lookup(method, sender, revision)
            .ok_or_else(|| format!("{revision} has no {method} from the {sender:?}"))?;
        let (envelope, is_request) = match info.kind {
            method::Kind::Request => ("JSONRPCRequest", true),
            method::Kind::Notification => ("JSONRPCNotification", false),
        };
        if message.get("id").is_some() != is_request {
            return Err(format!("{method} with the wrong sort of envelope"));
        }
        self.check(revision, envelope, message)?;
        match self
            .schema(revision)
            .and_then(|schema| schema.by_method.get(method))
        {
            Some(definition) => self.check(revision, definition, message),
            // Extensions are in no published schema.
            None => Ok(()),
        }
    }

    fn check_result(&self, revision: Revision, method: &str, result: &Value) -> Result<(), String> {
        if revision.is_stateless() {
            match result["resultType"].as_str() {
                Some("input_required") if method::allows_input_required(method) => {
                    if result.get("inputRequests").is_none() && result.get("requestState").is_none() {
                        return Err("input_required with neither inputRequests nor requestState".into());
                    }
                    return self.check(revision, "InputRequiredResult", result);
                }
                Some("task") if method == method::TOOLS_CALL => {
                    return self.check(revision, "Result", result);
                }
                Some("complete") => {}
                other => return Err(format!("resultType {other:?} on {method}")),
            }
        } else if let Some(member) = ["resultType", "ttlMs", "cacheScope"]
            .into_iter()
            .find(|member| result.get(member).is_some())
        {
            return Err(format!("{revision} has no {member}"));
        }
        if revision == Revision::V2025_11_25 && result.get("task").is_some() {
            return self.check(revision, "CreateTaskResult", result);
        }
        // Only the first revision has results of this form; its schema was never published.
        if revision == Revision::V2024_10_07
            && method == method::TOOLS_CALL
            && result.get("toolResult").is_some()
        {
            return self.check(revision, "Result", result);
        }
        let definition = self
            .schema(revision)
            .and_then(|schema| {
                let request = schema.by_method.get(method)?.strip_suffix("Request")?;
                let name = format!("{request}Result");
                schema.definition(&name).is_some().then_some(name)
            })
            .unwrap_or_else(|| "Result".into());
        self.check(revision, &definition, result)
    }

    fn check_error(&self, revision: Revision, message: &Value) -> Result<(), String> {
        let mut message = message.clone();
        // JSON-RPC 2.0 demands a null id where the request's was unreadable; the schemas leave that out.
        if message.get("id").is_some_and(Value::is_null) && !revision.is_stateless() {
            message["id"] = json!("unreadable");
        }
        self.check_first(revision, &["JSONRPCErrorResponse", "JSONRPCError"], &message)?;
        let special = match message["error"]["code"].as_i64() {
            Some(-32020) => "HeaderMismatchError",
            Some(-32021) => "MissingRequiredClientCapabilityError",
            Some(-32022) => "UnsupportedProtocolVersionError",
            Some(-32042) => "URLElicitationRequiredError",
            Some(-32002) if revision.is_stateless() => return Err("-32002 is gone".into()),
            _ => return Ok(()),
        };
        match self.defines(revision, special) {
            true => self.check(revision, special, &message),
            false => Err(format!("{revision} has no {special}")),
        }
    }

    /// Checks against the first of these definitions that the revision has.
    fn check_first(&self, revision: Revision, definitions: &[&str], value: &Value) -> Result<(), String> {
        let known = definitions.iter().find(|name| self.defines(revision, name));
        self.check(revision, known.ok_or("no such definition")?, value)
    }

    fn schema(&self, revision: Revision) -> Option<&Schema> {
        self.schemas.get(&published(revision))
    }

    fn validator(&self, revision: Revision, definition: &str) -> Result<Arc<Validator>, String> {
        let key = (published(revision), definition.to_owned());
        let mut compiled = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(validator) = compiled.get(&key) {
            return Ok(validator.clone());
        }
        let schema = self
            .schema(revision)
            .filter(|schema| schema.definition(definition).is_some())
            .ok_or_else(|| format!("{revision} defines no {definition}"))?;
        let root = json!({
            "$schema": schema.document["$schema"],
            "$ref": format!("#/{}/{definition}", schema.key),
            schema.key: schema.document[schema.key],
        });
        let validator = Arc::new(jsonschema::validator_for(&root).map_err(|problem| problem.to_string())?);
        compiled.insert(key, validator.clone());
        Ok(validator)
    }
}

/// The revision whose schema is used for `revision`.
fn published(revision: Revision) -> Revision {
    revision.max(Revision::V2024_11_05)
}

impl Schema {
    fn new(document: Value) -> Option<Schema> {
        let key = ["$defs", "definitions"]
            .into_iter()
            .find(|key| document.get(key).is_some())?;
        let by_method = document[key]
            .as_object()?
            .iter()
            .filter(|(name, _)| name.ends_with("Request") || name.ends_with("Notification"))
            .filter_map(|(name, definition)| {
                let method = definition["properties"]["method"]["const"].as_str()?;
                Some((method.to_owned(), name.clone()))
            })
            .collect();
        Some(Schema {
            document,
            key,
            by_method,
        })
    }

    fn definition(&self, name: &str) -> Option<&Value> {
        self.document[self.key].get(name)
    }
}

/// One message of a recorded conversation: a line of JSON.
struct Line {
    revision: Revision,
    sender: Side,
    message: Value,
    answers: Option<String>,
}

/// `xtask schema [--schemas FOLDER] TRANSCRIPT...`: checks recorded conversations.
///
/// Each line of a transcript is an object with `revision`, `from` (`client` or `server`), `message` and, for
/// responses, `answers` (the method of the request). Gives a report; an empty list of files only shows that the
/// schemas are there.
///
/// # Errors
/// Every message that breaks its schema, or what could not be read.
pub fn run(args: impl IntoIterator<Item = String>) -> Result<String, String> {
    let mut folder = SchemaSet::default_folder();
    let mut files = Vec::new();
    let mut args = args.into_iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--schemas" => folder = args.next().ok_or("--schemas needs a folder")?.into(),
            _ => files.push(arg),
        }
    }
    let Some(set) = SchemaSet::load(&folder) else {
        return Ok(format!("skipped: no published schemas in {}", folder.display()));
    };
    let (mut count, mut problems) = (0, Vec::new());
    for file in &files {
        let text = fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
        for (at, line) in text
            .lines()
            .enumerate()
            .filter(|(_, line)| !line.trim().is_empty())
        {
            let place = format!("{file}:{}", at + 1);
            let line = read_line(line).map_err(|error| format!("{place}: {error}"))?;
            count += 1;
            if let Err(problem) =
                set.check_message(line.revision, line.sender, &line.message, line.answers.as_deref())
            {
                problems.push(format!("{place}: {problem}"));
            }
        }
    }
    match problems.is_empty() {
        true => Ok(format!(
            "{count} messages in {} files hold to their schemas",
            files.len()
        )),
        false => Err(problems.join("\n")),
    }
}

fn read_line(line: &str) -> Result<Line, String> {
    let mut line: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
    let revision = line["revision"].as_str().and_then(Revision::from_name);
    let sender = match line["from"].as_str() {
        Some("client") => Side::Client,
        Some("server") => Side::Server,
        _ => return Err("`from` is neither client nor server".into()),
    };
    Ok(Line {
        revision: revision.ok_or("`revision` is no known one")?,
        sender,
        answers: line["answers"].as_str().map(str::to_owned),
        message: line["message"].take(),
    })
}
