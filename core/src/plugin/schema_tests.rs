//! The committed JSON schema of the report, held against the report.

use serde_json::{json, Value};

use super::*;

fn schema() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/doctor.schema.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// Validates a value by the part of JSON Schema that the committed file uses, and fails on any
/// other word in it.
fn errors(root: &Value, schema: &Value, value: &Value, at: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (word, rule) in schema.as_object().unwrap() {
        match word.as_str() {
            "description" | "title" | "$schema" | "$defs" => {}
            "$ref" => {
                let target = root
                    .pointer(rule.as_str().unwrap().strip_prefix('#').unwrap())
                    .unwrap();
                found.extend(errors(root, target, value, at));
            }
            "oneOf" => {
                let rules = rule.as_array().unwrap();
                let matching = rules
                    .iter()
                    .filter(|rule| errors(root, rule, value, at).is_empty())
                    .count();
                if matching != 1 {
                    found.push(format!("{at}: {matching} of the alternatives match {value}"));
                }
            }
            "const" if rule != value => found.push(format!("{at}: {value} is not {rule}")),
            "enum" if !rule.as_array().unwrap().contains(value) => {
                found.push(format!("{at}: {value} is not in {rule}"));
            }
            "const" | "enum" => {}
            "type" => {
                let types = rule.as_array().cloned().unwrap_or_else(|| vec![rule.clone()]);
                let own = match value {
                    Value::Null => "null",
                    Value::Bool(_) => "boolean",
                    Value::Number(_) => "integer",
                    Value::String(_) => "string",
                    Value::Array(_) => "array",
                    Value::Object(_) => "object",
                };
                if !types.contains(&json!(own)) {
                    found.push(format!("{at}: {value} is no {rule}"));
                }
            }
            "minimum" => {
                if value.as_i64().is_some_and(|value| value < rule.as_i64().unwrap()) {
                    found.push(format!("{at}: {value} is below {rule}"));
                }
            }
            "required" => {
                let missing = rule
                    .as_array()
                    .unwrap()
                    .iter()
                    .filter(|key| value.get(key.as_str().unwrap()).is_none());
                found.extend(missing.map(|key| format!("{at}: {key} is missing")));
            }
            "properties" => {
                let rules = rule.as_object().unwrap();
                for (key, value) in value.as_object().into_iter().flatten() {
                    match rules.get(key) {
                        Some(rule) => found.extend(errors(root, rule, value, &format!("{at}.{key}"))),
                        None => found.push(format!("{at}: {key} is not in the schema")),
                    }
                }
            }
            "additionalProperties" => assert_eq!(rule, &json!(false)),
            "items" => {
                for (i, value) in value.as_array().into_iter().flatten().enumerate() {
                    found.extend(errors(root, rule, value, &format!("{at}[{i}]")));
                }
            }
            other => panic!("the schema uses {other}, which this test does not know"),
        }
    }
    found
}

/// One of each reason.
fn samples() -> Vec<Reason> {
    let text = || "x".to_owned();
    let path = || "/x".into();
    let by = || Origin::Variable("HANSA_BACKENDS".into());
    vec![
        Reason::Loaded {
            devices: vec![text()],
            left_to_others: vec![],
        },
        Reason::Masked { by: path() },
        Reason::Shadowed { by: path() },
        Reason::OtherVersion {
            version: text(),
            by: text(),
            by_version: text(),
        },
        Reason::Disabled {
            by: by(),
            pattern: text(),
        },
        Reason::NotSelected { by: by() },
        Reason::OffByDefault,
        Reason::NotNeeded {
            served_by: vec![text()],
        },
        Reason::Conflict { with: text() },
        Reason::Outranked {
            devices: vec![TakenDevice {
                device: text(),
                by: text(),
            }],
        },
        Reason::NoDevice {
            looked_for: vec![text()],
            said: None,
        },
        Reason::NotFound { asked_by: by() },
        Reason::NoPermission {
            node: text(),
            errno: 13,
            errno_name: text(),
            group: Some(text()),
            said: text(),
        },
        Reason::ManifestUnreadable {
            file: path(),
            error: text(),
        },
        Reason::ManifestName { file: path() },
        Reason::ManifestSyntax {
            file: path(),
            line: 1,
            message: text(),
        },
        Reason::ManifestKey {
            file: path(),
            line: 1,
            key: text(),
            found: None,
            accepted: text(),
        },
        Reason::ManifestNewer {
            file: path(),
            format: 2,
            newest: 1,
        },
        Reason::WorldWritable { path: path() },
        Reason::LibraryUnreadable {
            library: path(),
            error: text(),
        },
        Reason::WrongElf {
            library: path(),
            property: "class",
            found: text(),
            accepted: text(),
        },
        Reason::BadElf {
            library: path(),
            error: text(),
        },
        Reason::WrongTarget {
            found: text(),
            accepted: text(),
        },
        Reason::NoNote { library: path() },
        Reason::BadNote {
            library: path(),
            error: text(),
        },
        Reason::NoteDisagrees {
            field: text(),
            manifest: text(),
            note: text(),
        },
        Reason::WrongInterface {
            found: text(),
            accepted: text(),
        },
        Reason::MissingLibrary { name: text() },
        Reason::MissingSymbol { symbol: text() },
        Reason::MissingVersion {
            version: text(),
            library: text(),
        },
        Reason::LinkFailed { message: text() },
        Reason::NoRootModule { library: path() },
        Reason::WrongHeader { message: text() },
        Reason::LayoutDiffers {
            at: text(),
            expected: text(),
            found: text(),
        },
        Reason::Failed {
            step: Step::Probe,
            text: text(),
            place: Some(text()),
            errno: 5,
        },
        Reason::Panicked {
            step: Step::Open,
            text: text(),
        },
    ]
}

fn report_of(reasons: Vec<Option<Reason>>) -> Value {
    let plugins = reasons.into_iter().map(|reason| {
        let mut candidate = Candidate {
            source: Source::Library("/x.so".into()),
            name: "org.test.x".into(),
            facts: None,
            warnings: vec!["x".into()],
            reason: None,
        };
        candidate.reason = reason;
        Entry::of(&candidate)
    });
    let searched = |found| Searched {
        path: "/x".into(),
        found,
    };
    let report = Report {
        schema: SCHEMA,
        runtime: Runtime::this(),
        secure: false,
        searched: vec![
            searched(Found::Candidates(2)),
            searched(Found::Absent(true)),
            searched(Found::Unusable("x".into())),
        ],
        plugins: plugins.collect(),
        warnings: vec!["x".into()],
        error: None,
    };
    serde_json::to_value(report).unwrap()
}

#[test]
fn every_reason_is_in_the_schema_and_the_other_way_round() {
    let schema = schema();
    let mut codes: Vec<String> = samples()
        .iter()
        .map(|reason| {
            serde_json::to_value(reason).unwrap()["code"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    let defined = schema["$defs"].as_object().unwrap().keys();
    let mut defined: Vec<String> = defined
        .filter_map(|key| Some(key.strip_prefix("reason-")?.to_owned()))
        .collect();
    codes.sort_unstable();
    defined.sort_unstable();
    // Its match has every variant, as the compiler sees to.
    let source = include_str!("reason.rs");
    let outcomes = &source
        [source.find("const fn outcome").unwrap()..source.find("impl fmt::Display for Reason").unwrap()];
    assert_eq!(outcomes.matches("Self::").count(), codes.len());
    assert_eq!(codes, defined);
}

#[test]
fn a_report_with_every_reason_is_valid() {
    let schema = schema();
    let reasons = samples().into_iter().map(Some).chain([None]).collect();
    assert_eq!(errors(&schema, &schema, &report_of(reasons), "report"), [""; 0]);
}

#[test]
fn what_is_not_in_the_schema_is_found() {
    let schema = schema();
    for (pointer, value) in [
        ("/plugins/0/reason/code", json!("unheard-of")),
        ("/plugins/0/outcome", json!("perhaps")),
        ("/searched/0/candidates", json!(-1)),
        ("/schema", json!(2)),
    ] {
        let mut report = report_of(vec![Some(Reason::OffByDefault)]);
        *report.pointer_mut(pointer).unwrap() = value;
        assert_ne!(errors(&schema, &schema, &report, "report"), [""; 0], "{pointer}");
    }
    let mut report = report_of(vec![]);
    report["extra"] = json!(1);
    assert_ne!(errors(&schema, &schema, &report, "report"), [""; 0]);
}

#[test]
fn every_sentence_is_one_and_says_something() {
    for reason in samples() {
        let sentence = reason.to_string();
        assert!(sentence.ends_with('.') && sentence.len() > 7, "{sentence}");
        assert!(!sentence.contains(".."), "{sentence}");
    }
}
