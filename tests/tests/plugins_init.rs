//! What `hsa_init` ends with, for a plugin in every state: the runtime starts without the one that
//! fails, unless it was critical or asked for.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod plugins_support;

use std::process::Command;

use hansa_plugin_api::hsa::hsa_status_t as Status;
use plugins_support::{fakes, Place};
use serde_json::Value;

const FAKE: &str = "org.hansa.fake";
const SECOND: &str = "org.hansa.second";

/// The end of one start in a process of its own.
struct End {
    report: Value,
    stderr: String,
}

impl End {
    fn status(&self) -> u64 {
        self.report["init"]["status"].as_u64().unwrap()
    }

    fn drivers(&self) -> Vec<&str> {
        let drivers = self.report["runtime"]["drivers"].as_array();
        drivers.into_iter().flatten().filter_map(Value::as_str).collect()
    }

    fn code(&self, id: &str) -> &str {
        let plugins = self.report["runtime"]["report"]["plugins"].as_array().unwrap();
        let plugin = plugins.iter().find(|plugin| plugin["id"] == id).unwrap();
        plugin["reason"]["code"].as_str().unwrap()
    }
}

fn start(place: &Place, variables: &[(&str, &str)]) -> End {
    let config = place.write("hsa.conf", "");
    let output = Command::new(env!("CARGO_BIN_EXE_hansa-plugin-report"))
        .arg("init")
        .env_clear()
        .env("HANSA_CONFIG", config)
        .env("HANSA_PLUGIN_ADD", &place.dir)
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{stderr}");
    End {
        report: serde_json::from_slice(&output.stdout).unwrap(),
        stderr,
    }
}

/// The fake plugin behaves as told, beside another.
fn two(behaviour: &str) -> Place {
    let place = Place::new();
    place.install(&fakes().fake, |_| {});
    place.install(&fakes().second, |_| {});
    place.behave(FAKE, behaviour);
    place.behave(SECOND, "devices = second:0");
    place
}

#[test]
fn two_whole_plugins_serve() {
    let end = start(&two(""), &[]);
    assert_eq!((end.status(), end.drivers()), (0, vec![FAKE, SECOND]));
    assert_eq!(end.report["shut_down"]["status"], 0);
}

#[test]
fn a_plugin_that_fails_is_left_out_and_the_runtime_starts() {
    for (behaviour, code) in [
        ("probe = none", "no-device"),
        ("probe = denied /dev/null", "no-permission"),
        ("probe = panic", "panicked"),
        ("init = error", "failed"),
        ("init = panic", "panicked"),
        ("open = error", "failed"),
        ("describe = error", "failed"),
    ] {
        let end = start(&two(behaviour), &[]);
        assert_eq!(
            (end.status(), end.drivers()),
            (0, vec![SECOND]),
            "{behaviour}: {}",
            end.report
        );
        assert_eq!(end.code(FAKE), code, "{behaviour}");
    }
}

#[test]
fn a_library_that_cannot_be_used_is_left_out_and_the_runtime_starts() {
    let with = |library: &std::path::Path, code: &str, change: &dyn Fn(&mut Vec<u8>)| {
        let place = two("");
        place.install(library, |_| {});
        place.patch(FAKE, change);
        let end = start(&place, &[]);
        assert_eq!(
            (end.status(), end.drivers()),
            (0, vec![SECOND]),
            "{code}: {}",
            end.report
        );
        assert_eq!(end.code(FAKE), code);
    };
    with(&fakes().undefined_symbol, "missing-symbol", &|_| {});
    with(&fakes().no_root, "no-root-module", &|_| {});
    with(&fakes().fake, "wrong-elf", &|bytes| bytes[4] = 1);
    with(&fakes().fake, "wrong-elf", &|bytes| bytes[18] = 8);
    with(&fakes().fake, "bad-elf", &|bytes| bytes.truncate(100));
}

#[test]
fn a_critical_plugin_that_fails_ends_the_start() {
    let place = two("open = error");
    place.install(&fakes().fake, |facts| facts.critical = true);
    let end = start(&place, &[]);
    assert_eq!(end.status(), u64::from(Status::ERROR_OUT_OF_RESOURCES.0));
    let error = end.report["init"]["error"].as_str().unwrap();
    assert!(error.contains("org.hansa.fake is marked critical"), "{error}");
    assert_eq!(end.report["runtime"], Value::Null);
}

#[test]
fn a_plugin_asked_for_that_fails_ends_the_start() {
    let place = two("init = panic");
    assert_eq!(start(&place, &[("HANSA_BACKENDS", "second")]).drivers(), [SECOND]);
    for variable in ["HANSA_BACKENDS", "HANSA_PLUGIN_SELECT"] {
        let end = start(&place, &[(variable, "fake,second")]);
        assert_eq!(
            end.status(),
            u64::from(Status::ERROR_OUT_OF_RESOURCES.0),
            "{variable}"
        );
        let error = end.report["init"]["error"].as_str().unwrap();
        assert!(error.contains(&format!("{variable} asks for fake")), "{error}");
    }
}

#[test]
fn without_an_accelerator_the_processors_are_left_and_one_line_names_the_doctor() {
    let end = start(&two(""), &[("HANSA_PLUGIN_DISABLE", "*")]);
    assert_eq!((end.status(), end.drivers()), (0, vec![]));
    assert_ne!(end.report["runtime"]["agents"], 0);
    let lines: Vec<&str> = end.stderr.lines().collect();
    assert!(
        matches!(lines[..], [line] if line.contains("hansa doctor")),
        "{lines:?}"
    );
}
