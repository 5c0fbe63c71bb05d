//! The built-in trace (`HSA_TRACE`), as text and for ui.perfetto.dev.

use std::collections::{HashMap, HashSet};
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::Command;

use hansa_tests::artifacts::{libraries, scratch_dir};
use hansa_tests::hsa_client::{program, ready, Machine, Plugins};
use hansa_tests::kernels::code_objects;
use serde_json::Value;

const MACHINE: Machine<'static> = Machine::gfx900(Plugins::BuiltIn);

fn traced(client: &str, arguments: &[&str], trace: &str) -> Command {
    let mut command = MACHINE.command(&program(client));
    command
        .arg(code_objects())
        .args(arguments)
        .env("HSA_TRACE", trace);
    command
}

/// Runs a client, which must pass, and gives what it said on stderr.
fn run(mut command: Command) -> String {
    let output = command.output().expect("timeout is a part of every system");
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.success() && text.contains(" passed, 0 failed"),
        "{text}{errors}"
    );
    errors
}

fn file(name: &str) -> PathBuf {
    let file = scratch_dir("traces").join(name);
    let _ = std::fs::remove_file(&file);
    file
}

fn events(file: &PathBuf) -> Vec<Value> {
    let text = std::fs::read_to_string(file).expect("The trace was written");
    let whole: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}:\n{text}"));
    whole["traceEvents"].as_array().expect("a list of events").clone()
}

fn of<'a>(events: &'a [Value], category: &str) -> Vec<&'a Value> {
    events.iter().filter(|event| event["cat"] == category).collect()
}

#[test]
fn text_has_every_call_with_arguments_result_time_and_thread() {
    if !ready() {
        return;
    }
    let file = file("calls.txt");
    let errors = run(traced("traced", &[], &format!("text:{}", file.display())));
    assert_eq!(errors, "");
    let text = std::fs::read_to_string(&file).expect("The trace was written");
    let lines: Vec<&str> = text.lines().collect();
    let first_and_last = [lines[0], lines[lines.len() - 1]];
    for (line, call) in first_and_last.into_iter().zip(["hsa_init", "hsa_shut_down"]) {
        assert!(
            line.contains(&format!(" {call}() = HSA_STATUS_SUCCESS [")),
            "{line}"
        );
    }
    let has = |parts: &[&str]| {
        let found = lines
            .iter()
            .any(|line| parts.iter().all(|part| line.contains(part)));
        assert!(found, "no line has {parts:?}:\n{text}");
    };
    has(&[
        "hsa_agent_get_info(agent=0x",
        "attribute=HSA_AGENT_INFO_NAME, value=0x",
        "= HSA_STATUS_SUCCESS",
    ]);
    has(&[
        "hsa_queue_create(agent=0x",
        ", size=64, type=",
        "callback=",
        "queue=0x",
        " -> 0x",
    ]);
    has(&[
        "hsa_signal_create(initial_value=8, num_consumers=0, consumers=NULL, signal=0x",
        " -> 0x",
    ]);
    has(&["hsa_executable_get_symbol", "\"add_one.kd\""]);
    has(&[
        "hsa_amd_memory_async_copy(dst=0x",
        "size=1048576, num_dep_signals=0",
    ]);
    let threads: HashSet<&str> = lines.iter().filter_map(|line| line.split(' ').nth(2)).collect();
    assert_eq!(threads.len(), 2, "{threads:?}");
    assert!(
        lines
            .iter()
            .all(|line| line.starts_with("hsa ") && line.ends_with(" us]")),
        "{text}"
    );
}

#[test]
fn text_goes_to_stderr_by_itself() {
    if ready() {
        for value in ["text", "1"] {
            let errors = run(traced("traced", &[], value));
            assert!(errors.contains(" hsa_init() = HSA_STATUS_SUCCESS ["), "{errors}");
        }
        assert_eq!(run(traced("traced", &[], "0")), "");
        let errors = run(traced("traced", &[], "xml"));
        assert!(
            errors.contains("HSA_TRACE: xml: expected 0 or 1, text, text:FILE or perfetto:FILE"),
            "{errors}"
        );
        let errors = run(traced("traced", &[], "perfetto:/nowhere/at/all"));
        assert!(
            errors.contains("/nowhere/at/all\": No such file") && errors.contains("nothing is traced"),
            "{errors}"
        );
    }
}

fn check_perfetto(events: &[Value]) {
    for event in events {
        let complete = event["ph"] == "X" && event["ts"].is_number() && event["dur"].is_number();
        assert!(complete || event["ph"] == "M", "{event}");
    }
    // Slices of one row lie inside each other or beside each other.
    let mut rows: HashMap<(u64, u64), Vec<(f64, f64)>> = HashMap::new();
    for event in events.iter().filter(|event| event["ph"] == "X") {
        let number = |key: &str| event[key].as_u64().expect("a number");
        let time = |key: &str| event[key].as_f64().expect("a number");
        let (start, took) = (time("ts"), time("dur"));
        rows.entry((number("pid"), number("tid")))
            .or_default()
            .push((start, start + took));
    }
    for (row, mut slices) in rows {
        slices.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.total_cmp(&a.1)));
        let mut open: Vec<f64> = Vec::new();
        for (start, end) in slices {
            // Times are rounded to nanoseconds in a number of 53 bits.
            while open.last().is_some_and(|&last| last <= start + 0.001) {
                open.pop();
            }
            assert!(
                open.last().is_none_or(|&last| end <= last + 0.001),
                "row {row:?} overlaps at {start}"
            );
            open.push(end);
        }
    }
    // Every row has a name.
    let row = |event: &Value| (event["pid"].as_u64(), event["tid"].as_u64());
    let is_name = |event: &&Value| event["name"] == "thread_name";
    let named: HashSet<_> = events.iter().filter(is_name).map(row).collect();
    let nameless = events.iter().find(|event| !named.contains(&row(event)));
    assert_eq!(nameless, None);
}

#[test]
fn perfetto_has_calls_dispatches_copies_and_waits_on_tracks() {
    if !ready() {
        return;
    }
    for (name, arguments) in [("whole.json", &[][..]), ("abandoned.json", &["abandon"])] {
        let file = file(name);
        let errors = run(traced(
            "traced",
            arguments,
            &format!("perfetto:{}", file.display()),
        ));
        assert_eq!(errors, "");
        let events = events(&file);
        check_perfetto(&events);
        let dispatches = of(&events, "dispatch");
        assert_eq!(dispatches.len(), 16);
        for dispatch in &dispatches {
            assert_eq!(dispatch["name"], "add_one");
            assert_eq!(dispatch["args"]["grid"], "256 x 1 x 1");
            assert!(
                dispatch["dur"].as_f64().is_some_and(|took| took > 0.0),
                "{dispatch}"
            );
        }
        let copies = of(&events, "copy");
        for name in ["copy", "fill"] {
            let large = |copy: &&&Value| copy["name"] == name && copy["args"]["bytes"] == "1048576";
            assert_eq!(copies.iter().filter(large).count(), 1, "{copies:?}");
        }
        assert!(of(&events, "wait").len() >= 3);
        let calls = of(&events, "call");
        assert_eq!(calls[0]["name"], "hsa_init");
        assert_eq!(calls[0]["args"]["result"], "HSA_STATUS_SUCCESS");
        let ended = calls.iter().any(|call| call["name"] == "hsa_shut_down");
        assert_eq!(ended, arguments.is_empty());
        // A kernel runs within the calls of the program, by the same clock.
        let time = |event: &Value| event["ts"].as_f64().unwrap_or(0.0);
        let queue = calls
            .iter()
            .find(|call| call["name"] == "hsa_queue_create")
            .expect("a queue");
        let last = calls[calls.len() - 1];
        assert!(dispatches
            .iter()
            .all(|d| time(d) > time(queue) && time(d) < time(last)));
    }
}

/// What every whole life of the client leaves in a trace.
fn check_life(file: &PathBuf) {
    let events = events(file);
    check_perfetto(&events);
    assert_eq!(of(&events, "dispatch").len(), 16, "{}", file.display());
    assert_eq!(of(&events, "call")[0]["name"], "hsa_init");
}

/// A file's name with a process number at its end.
fn of_process(file: &std::path::Path, process: u32) -> PathBuf {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    file.with_file_name(format!("{name}.{process}"))
}

/// The files of processes that found a file taken.
fn beside(file: &std::path::Path) -> Vec<PathBuf> {
    let begin = format!("{}.", file.display());
    let directory = file
        .parent()
        .expect("a directory")
        .read_dir()
        .expect("a directory");
    let all = directory.filter_map(|entry| Some(entry.ok()?.path()));
    all.filter(|path| path.to_string_lossy().starts_with(&begin))
        .collect()
}

#[test]
fn a_trace_of_a_killed_process_is_whole() {
    if !ready() {
        return;
    }
    let file = file("killed.json");
    let output = traced("traced", &["killed"], &format!("perfetto:{}", file.display()))
        .output()
        .expect("timeout is a part of every system");
    // timeout(1) ends as its program did, or says it as a shell does.
    let killed = output.status.signal() == Some(9) || output.status.code() == Some(128 + 9);
    assert!(killed, "{output:?}");
    check_life(&file);
}

#[test]
fn two_processes_with_one_name_have_a_file_each() {
    if !ready() {
        return;
    }
    let file = file("two.json");
    for old in beside(&file) {
        std::fs::remove_file(old).expect("It is there");
    }
    // One of them has the file from the beginning to the end of the other.
    let first = std::fs::File::create(&file).expect("The target directory can be written");
    first.try_lock().expect("Nobody else has it");
    let trace = format!("perfetto:{}", file.display());
    let mut running: Vec<_> = (0..3)
        .map(|_| {
            let mut command = traced("traced", &[], &trace);
            command.stdout(std::process::Stdio::null());
            command.spawn().expect("timeout is a part of every system")
        })
        .collect();
    for process in &mut running {
        assert!(process.wait().expect("It was started").success());
    }
    assert_eq!(
        std::fs::metadata(&file).map_or(1, |data| data.len()),
        0,
        "it was another's"
    );
    let theirs = beside(&file);
    assert_eq!(theirs.len(), 3, "{theirs:?}");
    for path in theirs {
        check_life(&path);
        std::fs::remove_file(path).expect("It is there");
    }
    // Without anybody else the name is free again.
    drop(first);
    run(traced("traced", &[], &trace));
    check_life(&file);
}

#[test]
fn a_forked_child_has_a_trace_of_its_own() {
    if !ready() {
        return;
    }
    let file = file("fork.json");
    let output = traced("traced", &["fork"], &format!("perfetto:{}", file.display()))
        .output()
        .expect("timeout is a part of every system");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    let child = text
        .lines()
        .find_map(|line| line.strip_prefix("child ")?.parse().ok());
    let theirs = of_process(&file, child.expect("a number"));
    let process = |path: &PathBuf| {
        let events = events(path);
        let calls = of(&events, "call");
        let ended = calls.iter().any(|call| call["name"] == "hsa_shut_down");
        assert!(ended, "{}", path.display());
        let first = calls[0]["pid"].clone();
        assert!(
            calls.iter().all(|call| call["pid"] == first),
            "{}",
            path.display()
        );
        first
    };
    check_life(&file);
    check_life(&theirs);
    assert_eq!(process(&theirs), child.expect("a number"));
    assert_ne!(process(&file), process(&theirs));
    std::fs::remove_file(theirs).expect("It is there");
}

#[test]
fn a_file_that_cannot_be_written_is_named_and_the_program_runs() {
    if !ready() {
        return;
    }
    let directory = scratch_dir("traces");
    let directory = directory.to_string_lossy();
    for (form, path, why) in [
        ("perfetto", "/dev/full", "No space left on device"),
        ("perfetto", &*directory, "Is a directory"),
        ("text", &*directory, "Is a directory"),
        ("text", "/nowhere/at/all", "No such file"),
    ] {
        let errors = run(traced("traced", &[], &format!("{form}:{path}")));
        assert!(
            errors.lines().count() == 1
                && [path, why, "nothing is traced"]
                    .iter()
                    .all(|part| errors.contains(part)),
            "{form}:{path}: {errors}"
        );
    }
    // A disk that is full later ends the trace, not the program.
    assert_eq!(run(traced("traced", &[], "text:/dev/full")), "");
}

#[test]
fn tracing_does_not_disturb_programs_with_many_packets() {
    if ready() {
        let file = file("packets.json");
        run(traced("packets", &[], &format!("perfetto:{}", file.display())));
        let events = events(&file);
        check_perfetto(&events);
        assert!(of(&events, "dispatch").len() > 100);
    }
}

#[test]
fn a_tool_and_a_trace_go_together() {
    if ready() {
        let tool = hansa_tests::tool_client::tool("profile.cpp", "profile", &[]);
        let log = file("with_tool.log");
        let file = file("with_tool.json");
        let mut command = traced("traced", &[], &format!("perfetto:{}", file.display()));
        command.env("HSA_TOOLS_LIB", tool).env("TOOL_LOG", &log);
        run(command);
        assert_eq!(of(&events(&file), "dispatch").len(), 16);
        let log = std::fs::read_to_string(log).expect("The tool wrote");
        assert_eq!(
            log.lines()
                .filter(|line| line.starts_with("dispatch 256 "))
                .count(),
            16,
            "{log}"
        );
    }
}

/// A trace puts handlers between the program and its queues; they are as many as without it.
#[test]
fn an_agent_has_no_more_queues_than_it_says() {
    if !ready() {
        return;
    }
    let file = file("queues.json");
    let mut command = traced("bad_input", &[], &format!("perfetto:{}", file.display()));
    command.env("HSA_MAX_QUEUES", "8");
    run(command);
}

/// A trace puts functions of its own into every table, which bring nothing.
#[test]
fn what_is_missing_is_missing_under_a_trace_as_well() {
    if !ready() {
        return;
    }
    let missing = |trace: &str| {
        let mut command = MACHINE.command(&libraries().join("hansa"));
        command
            .args(["info", "--missing"])
            .env("HANSA_PLUGIN_DISABLE", "org.hansa.finalizer")
            .env("HSA_TRACE", trace);
        let output = command.output().expect("timeout is a part of every system");
        assert!(output.status.success(), "{output:?}");
        (
            String::from_utf8_lossy(&output.stdout).into_owned(),
            String::from_utf8_lossy(&output.stderr).into_owned(),
        )
    };
    let (plain, _) = missing("0");
    let has = |name: &str| plain.lines().any(|line| line == name);
    assert!(
        has("hsa_ext_program_create") && !has("hsa_amd_memory_pool_allocate"),
        "{plain}"
    );
    let (traced, trace) = missing("text");
    assert!(trace.contains(" hsa_init() = HSA_STATUS_SUCCESS ["), "{trace}");
    assert_eq!(traced, plain);
}
