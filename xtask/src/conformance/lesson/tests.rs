use super::example::{Example, Kind};
use super::*;

#[test]
fn every_example_is_reproduced_and_every_line_of_it_can_fail() {
    for (text, play) in EXAMPLES {
        let example = Example::parse(text).unwrap();
        for revision in example.revisions() {
            let ours = perform(play, example.input(), revision).unwrap();
            let failures = failures(&example, &ours);
            assert!(failures.is_empty(), "{}: {failures:#?}", example.name);
            for at in 0..example.output.len() {
                let mut other = example.clone();
                other.output[at] = format!("x{}", other.output[at]);
                let found = self::failures(&other, &ours);
                let [(name, difference)] = &found[..] else {
                    panic!("{}, line {}: {found:#?}", example.name, at + 1);
                };
                assert_eq!(*name, format!("{}, line {}", example.name, at + 1));
                assert!(difference.contains(&other.output[at]), "{difference}");
            }
            let mut shorter = ours.clone();
            shorter.pop();
            assert_eq!(self::failures(&example, &shorter).len(), 1);
            let longer = [ours, vec!["more".to_owned()]].concat();
            assert_eq!(self::failures(&example, &longer).len(), 1);
        }
    }
}

fn failures(example: &Example, ours: &[String]) -> Vec<(String, String)> {
    let outcomes = compare::outcomes(example, None, Ok(ours.to_vec()));
    let failed = outcomes.into_iter();
    failed
        .filter_map(|outcome| Some((outcome.name, outcome.failure?)))
        .collect()
}

const SMALL: &str = "# Example 0: small\n\ncrate c, revision -, transport -\n\n## Input\n\n```\n```\n\n## Output\n\n```\n\
    <- {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"a\":[1,2]}}\n{\"a\":1,\"b\":2}\nabcdef...\nx 1\n```\n\n\
    ## Exceptions\n\n- 3 cut: because\n- 4 replace `1` by `2`: also\n  because\n";

#[test]
fn messages_are_compared_as_json_and_all_else_byte_for_byte() {
    let example = Example::parse(SMALL).unwrap();
    let ours = |first: &str, second: &str, third: &str| {
        let lines = [first, second, third, "x 2"].map(str::to_owned);
        failures(&example, &lines)
    };
    let good = "<- {\"result\": {\"a\": [1, 2]}, \"id\": 1, \"jsonrpc\": \"2.0\"}";
    assert_eq!(ours(good, r#"{"a":1,"b":2}"#, "abcdefghi"), []);

    let other = r#"<- {"jsonrpc":"2.0","id":1,"result":{"a":[2,1]}}"#;
    let found = ours(other, r#"{"b":2,"a":1}"#, "abcdef");
    assert_eq!(found.len(), 3, "{found:#?}");
    assert!(
        found[0].1.contains("/result/a/0: expected 1, got 2"),
        "{}",
        found[0].1
    );
    assert!(found[1].1.contains("from character 3"), "{}", found[1].1);
    assert!(found[2].1.contains("except  because"), "{}", found[2].1);
    // What stands before a message counts, too.
    assert_eq!(
        ours(&good.replace("<-", "->"), r#"{"a":1,"b":2}"#, "abcdefghi").len(),
        1
    );
}

#[test]
fn an_exception_without_reason_line_or_effect_is_refused() {
    let example = Example::parse(SMALL).unwrap();
    assert_eq!(example.exceptions[1].kind, Kind::Replace("1".into(), "2".into()));
    assert_eq!(example.exceptions[1].reason, "also because");
    for (old, new) in [
        ("3 cut: because", "3 cut: "),
        ("3 cut: because", "4 cut: because"),
        ("3 cut: because", "5 played: because"),
        ("replace `1`", "replace `3`"),
        ("3 cut: because", "3 shorten: because"),
    ] {
        let text: &'static str = SMALL.replace(old, new).leak();
        assert!(Example::parse(text).is_err(), "{new}");
    }
}

#[test]
fn an_example_that_does_not_end_is_one_failure() {
    let example = Example::parse(SMALL).unwrap();
    let outcomes = compare::outcomes(&example, None, Err("the server ended".into()));
    assert_eq!(outcomes.len(), 1);
    assert!(
        outcomes[0]
            .failure
            .as_deref()
            .unwrap()
            .contains("the server ended")
    );
}
