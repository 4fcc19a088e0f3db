//! Whether the headers `Mcp-Param-*` of a call say the same as its arguments (2026-07-28: basic/transports, "Custom
//! Headers from Tool Parameters"). A proxy may have decided by them, so a difference is refused.

use mcp_exchange::{ParamHeader, ParamHeaders};
use mcp_jsonrpc::{ErrorObject, RawJson, codes};
use mcp_schema::{HeaderParam, HeaderParamType};
use serde_json::Value;

pub(crate) fn check(
    params: &[HeaderParam],
    headers: &ParamHeaders,
    arguments: &RawJson,
) -> Result<(), ErrorObject> {
    if params.is_empty() {
        return Ok(());
    }
    let arguments: Value = arguments
        .parse()
        .map_err(|error| ErrorObject::invalid_params(format!("Invalid params: arguments: {error}")))?;
    for param in params {
        let argument = param
            .path
            .iter()
            .try_fold(&arguments, |value, step| value.get(step))
            .filter(|value| !value.is_null());
        compare(param, headers.get(&param.name), argument).map_err(|text| {
            let text = format!("Header mismatch: Mcp-Param-{} {text}", param.name);
            ErrorObject::new(codes::HEADER_MISMATCH, text)
        })?;
    }
    Ok(())
}

fn compare(param: &HeaderParam, header: ParamHeader<'_>, argument: Option<&Value>) -> Result<(), String> {
    let path = param.path.join(".");
    let (said, argument) = match (header, argument) {
        (ParamHeader::Malformed, _) => return Err("cannot be decoded, or is there twice".into()),
        (ParamHeader::Absent, None) => return Ok(()),
        (ParamHeader::Absent, Some(_)) => return Err(format!("is missing; it repeats the argument {path}")),
        (ParamHeader::Text(_), None) => return Err(format!("is there, the argument {path} is not")),
        (ParamHeader::Text(said), Some(argument)) => (said, argument),
        (_, _) => return Ok(()),
    };
    let same = match (param.kind, argument) {
        (HeaderParamType::Boolean, Value::Bool(value)) => said == if *value { "true" } else { "false" },
        // 42 and 42.0 are one integer.
        (HeaderParamType::Integer, Value::Number(value)) => {
            value.to_string() == said || said.parse::<f64>().is_ok_and(|said| value.as_f64() == Some(said))
        }
        (_, Value::String(value)) => said == value,
        // Of the wrong type: the schema's check says so in words for the model.
        _ => true,
    };
    if same {
        return Ok(());
    }
    Err(format!("is {said:?}, the argument {path} is {argument}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(headers: &[(&str, Option<&str>)], arguments: &str) -> Result<(), ErrorObject> {
        let schema = RawJson::from_text(
            r#"{"type":"object","properties":{
                "region":{"type":"string","x-mcp-header":"Region"},
                "page":{"type":"integer","x-mcp-header":"Page"},
                "where":{"type":"object","properties":{"dry":{"type":"boolean","x-mcp-header":"Dry"}}}}}"#,
        )
        .unwrap();
        let params = mcp_schema::header_params(&schema).unwrap();
        let mut sent = ParamHeaders::new();
        for (name, value) in headers {
            sent.push(name, *value);
        }
        check(&params, &sent, &RawJson::from_text(arguments).unwrap())
    }

    #[test]
    fn what_agrees() {
        assert_eq!(verdict(&[], "{}"), Ok(()));
        assert_eq!(verdict(&[], r#"{"region":null}"#), Ok(()));
        assert_eq!(verdict(&[("region", Some(""))], r#"{"region":""}"#), Ok(()));
        let all = [
            ("Region", Some("\u{e9}u")),
            ("Page", Some("42")),
            ("Dry", Some("true")),
        ];
        let arguments = "{\"region\":\"\u{e9}u\",\"page\":42.0,\"where\":{\"dry\":true}}";
        assert_eq!(verdict(&all, arguments), Ok(()));
        // Headers that nothing asked for mean nothing.
        assert_eq!(verdict(&[("Other", None)], "{}"), Ok(()));
        // The argument's type is for the schema to judge.
        assert_eq!(verdict(&[("Page", Some("x"))], r#"{"page":"x"}"#), Ok(()));
    }

    #[test]
    fn what_does_not() {
        for (headers, arguments) in [
            (&[][..], r#"{"region":"eu"}"#),
            (&[("Region", Some("us"))], r#"{"region":"eu"}"#),
            (&[("Region", Some("EU"))], r#"{"region":"eu"}"#),
            (&[("Region", None)], r#"{"region":"eu"}"#),
            (&[("Region", Some("eu"))], "{}"),
            (&[("Page", Some("43"))], r#"{"page":42}"#),
            (&[("Dry", Some("True"))], r#"{"where":{"dry":true}}"#),
        ] {
            let error = verdict(headers, arguments).unwrap_err();
            assert_eq!(error.code, -32020, "{headers:?} {arguments}");
            assert!(error.message.contains("Mcp-Param-"), "{}", error.message);
        }
    }
}
