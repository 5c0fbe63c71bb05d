//! What people see of kernels on the software GPU: counters, traces, instruction sets, disassembly.

use hansa_tests::artifacts::{libraries, scratch_dir};
use hansa_tests::command;
use serde_json::Value;
use std::path::PathBuf;
use std::process::{Command, Output};

fn hansa(arguments: &[&str]) -> Command {
    command::hansa("inside-home", arguments)
}

fn succeeds(command: &mut Command) -> Output {
    let output = command.output().expect("the command was built");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    output
}

/// `hansa`, and a file for what it writes.
fn file(name: &str) -> (String, PathBuf) {
    let file = scratch_dir("inside").join(name);
    (file.to_string_lossy().into_owned(), file)
}

#[test]
fn the_counters_of_the_vector_sum_follow_from_its_size() {
    const ITEMS: u64 = 10_000;
    let (name, json) = file("stats.json");
    let command = libraries().join("hansa").to_string_lossy().into_owned();
    let output = succeeds(&mut hansa(&[
        "run",
        "--stats",
        "--stats-json",
        &name,
        "--",
        &command,
        "demo",
        "--count",
        &ITEMS.to_string(),
    ]));
    let table = String::from_utf8_lossy(&output.stderr);
    assert!(
        table.contains("kernel") && table.contains("vector_add"),
        "{table}"
    );
    let text = std::fs::read_to_string(json).expect("the counters were written");
    let reports: Value = serde_json::from_str(&text).expect("JSON");
    let kernel = &reports[0]["kernels"][0];
    let number = |value: &Value| value.as_u64().expect("a number");
    assert_eq!(kernel["name"], "vector_add");
    assert_eq!(number(&kernel["dispatches"]), 1);
    // Work-groups of 256 items: 40 of them, four waves each, and the last is not full.
    assert_eq!(number(&kernel["groups"]), ITEMS.div_ceil(256));
    assert_eq!(number(&kernel["waves"]), 4 * ITEMS.div_ceil(256));
    assert_eq!(number(&kernel["device_bytes"]["written"]), 4 * ITEMS);
    // Two numbers each, and the arguments of each wave.
    let read = number(&kernel["device_bytes"]["read"]);
    assert!(
        (8 * ITEMS + 1..9 * ITEMS).contains(&read),
        "{read} bytes for {ITEMS} items"
    );
    let families = kernel["families"].as_object().expect("an object");
    let sum: u64 = families.values().map(number).sum();
    assert_eq!(sum, number(&kernel["instructions"]));
    assert_eq!(families["GLOBAL"], 3 * ITEMS.div_ceil(64));
}

#[test]
fn a_trace_has_the_instructions_of_the_waves_that_it_was_asked_for() {
    let (name, path) = file("trace.txt");
    let spec = format!("{name},kernel=vector,group=1:0:0,wave=2");
    succeeds(hansa(&["demo", "--count", "1000"]).env("HANSA_SIM_TRACE", spec));
    let trace = std::fs::read_to_string(path).expect("the trace was written");
    let lines: Vec<&str> = trace.lines().collect();
    assert!(lines.len() > 10, "{trace}");
    assert!(
        lines
            .iter()
            .all(|line| line.starts_with("vector_add 1,0,0 w2 0x")),
        "{trace}"
    );
    assert!(
        lines[0].starts_with("vector_add 1,0,0 w2 0x0000 exec=ffffffffffffffff "),
        "{trace}"
    );
    assert!(
        lines.iter().any(|line| line.contains(" global_load_dword v")),
        "{trace}"
    );
    assert!(
        lines.last().is_some_and(|line| line.ends_with("s_endpgm")),
        "{trace}"
    );
}

#[test]
fn a_filter_that_is_none_is_named_and_the_kernel_runs() {
    let output = succeeds(hansa(&["demo", "--count", "1000"]).env("HANSA_SIM_TRACE", "-,colour=red"));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        errors.contains("HANSA_SIM_TRACE")
            && errors.contains("colour=red")
            && errors.contains("FILE[,kernel=TEXT]"),
        "{errors}"
    );
}

#[test]
fn coverage_counts_what_the_tables_have() {
    let output = succeeds(&mut hansa(&["isa", "coverage", "--target", "gfx90a", "--json"]));
    let coverage: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let families = coverage[0]["families"].as_array().expect("a list");
    for family in families {
        let missing = family["missing"].as_array().map_or(0, Vec::len) as u64;
        assert_eq!(
            family["implemented"].as_u64().unwrap_or(0) + missing,
            family["all"].as_u64().unwrap_or(0)
        );
    }
    let vop2 = families
        .iter()
        .find(|family| family["name"] == "VOP2")
        .expect("VOP2");
    assert_eq!(vop2["implemented"], vop2["all"]);
    let refused = hansa(&["isa", "coverage", "--target", "gfx1030"])
        .output()
        .expect("built");
    assert!(!refused.status.success());
    assert!(String::from_utf8_lossy(&refused.stderr).contains("gfx900, gfx906, gfx908, gfx90a"));
}

#[test]
fn a_code_object_is_disassembled_by_its_symbols() {
    let object = hansa_tests::kernels::code_objects().join("gfx900/O3/vector_add.co");
    let output = succeeds(&mut hansa(&["isa", "disasm", &object.to_string_lossy()]));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.starts_with("; amdgcn-amd-amdhsa--gfx900"), "{text}");
    assert!(
        text.contains("<vector_add>:") && text.contains("s_endpgm"),
        "{text}"
    );
    let refused = hansa(&["isa", "disasm", "/bin/sh"]).output().expect("built");
    assert!(!refused.status.success());
    assert!(String::from_utf8_lossy(&refused.stderr).contains("/bin/sh is neither"));
}
