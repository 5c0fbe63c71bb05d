//! Tools (`HSA_TOOLS_LIB`): libraries that patch the tables, good ones and bad ones, under programs that know nothing of it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use hansa_tests::artifacts::scratch_dir;
use hansa_tests::hsa_client::{judge, program, ready, Machine, Plugins};
use hansa_tests::kernels::code_objects;
use hansa_tests::tool_client::{member_names, tool};

const MACHINE: Machine<'static> = Machine::gfx900(Plugins::BuiltIn);

/// An empty file for what tools say.
fn log(test: &str) -> PathBuf {
    let file = scratch_dir("tools").join(test).with_extension("log");
    std::fs::write(&file, "").expect("The target directory can be written");
    file
}

fn lines(log: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(log).expect("The log was made");
    text.lines().map(str::to_owned).collect()
}

fn list(tools: &[&Path]) -> String {
    let names: Vec<String> = tools.iter().map(|tool| tool.display().to_string()).collect();
    names.join(" ")
}

fn with_tools(client: &str, tools: &str, log: &Path) -> Command {
    let mut command = MACHINE.command(&program(client));
    command.env("HSA_TOOLS_LIB", tools).env("TOOL_LOG", log);
    command
}

/// Runs the client; it must pass whatever its tools are like.
fn passes(mut command: Command) -> Output {
    let output = command.output().expect("timeout is a part of every system");
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    let good = output.status.success() && text.contains(" passed, 0 failed");
    assert!(good, "{command:?}: {}\n{text}{errors}", output.status);
    output
}

/// The runtime's own lines on stderr.
fn said(output: &Output) -> Vec<String> {
    let text = String::from_utf8_lossy(&output.stderr);
    let lines = text.lines().filter(|line| line.starts_with("hansa: "));
    lines.map(str::to_owned).collect()
}

#[test]
fn a_tool_in_c_sees_every_call() {
    if !ready() {
        return;
    }
    let members = format!("MEMBERS=\"{}\"", member_names().display());
    let tool = tool("trace.c", "trace", &[&members]);
    let log = log("every_call");
    let mut command = with_tools("vector_add", &list(&[&tool]), &log);
    command.arg(code_objects());
    judge(MACHINE, "vector_add", &mut command);
    let lines = lines(&log);
    let called = |name: &str| {
        lines
            .iter()
            .filter(|line| **line == format!("call {name}"))
            .count()
    };
    for name in [
        "hsa_iterate_agents",
        "hsa_agent_get_info",
        "hsa_queue_create",
        "hsa_queue_destroy",
        "hsa_signal_create",
        "hsa_executable_freeze",
        "hsa_amd_memory_pool_allocate",
        "hsa_amd_agents_allow_access",
        "hsa_shut_down",
    ] {
        assert!(called(name) > 0, "{name} was not seen");
    }
    // Every member of the tables of the standard and of AMD has a total, and the totals are right.
    let totals: Vec<(&str, usize)> = lines
        .iter()
        .filter_map(|line| line.strip_prefix("total ")?.split_once(' '))
        .map(|(name, count)| (name, count.parse().expect("a number")))
        .collect();
    assert!(totals.len() >= 125 + 94, "{} members", totals.len());
    for (name, count) in totals {
        assert_eq!(count, called(name), "{name}");
    }
}

#[test]
fn a_profiler_in_c_plus_plus_times_every_dispatch() {
    if !ready() {
        return;
    }
    let tool = tool("profile.cpp", "profile", &[]);
    for plugins in [Plugins::BuiltIn, Plugins::Loaded] {
        let log = log(&format!("profiler-{plugins:?}"));
        let machine = Machine::gfx900(plugins);
        let mut command = machine.command(&program("vector_add"));
        command.env("HSA_TOOLS_LIB", &tool).env("TOOL_LOG", &log);
        command.arg(code_objects());
        judge(machine, "vector_add", &mut command);
        let lines = lines(&log);
        assert!(lines.iter().any(|line| line.starts_with("queue ")), "{lines:?}");
        let dispatches: Vec<f64> = lines
            .iter()
            .filter(|line| line.starts_with("dispatch "))
            .map(|line| line.rsplit(' ').next().unwrap_or("").parse().expect("a number"))
            .collect();
        assert!(
            !dispatches.is_empty() && dispatches.iter().all(|t| *t > 0.0),
            "{lines:?}"
        );
    }
}

#[test]
fn a_profiler_does_not_disturb_programs_with_many_packets() {
    if ready() {
        let tool = tool("profile.cpp", "profile", &[]);
        let mut command = with_tools("kernels", &list(&[&tool]), &log("many_packets"));
        command.arg(code_objects()).args(["reduce", "atomics", "spill"]);
        judge(MACHINE, "kernels", &mut command);
        // Among them several threads that fill one small queue.
        let mut command = with_tools("packets", &list(&[&tool]), &log("many_packets"));
        judge(MACHINE, "packets", command.arg(code_objects()));
    }
}

/// A forked child that starts a runtime of its own has its tools loaded for it, in front of the functions of the runtime and not
/// of what the parent's tools put there.
#[test]
fn a_forked_child_has_tools_of_its_own() {
    if !ready() {
        return;
    }
    let profile = tool("profile.cpp", "profile", &[]);
    let life = tool("behave.c", "life", &["NAME=\"life\""]);
    let log = log("fork");
    let mut command = with_tools("traced", &list(&[&profile, &life]), &log);
    command.arg(code_objects()).arg("fork");
    judge(MACHINE, "traced", &mut command);
    let lines = lines(&log);
    let count = |begin: &str| lines.iter().filter(|line| line.starts_with(begin)).count();
    // Those of the child and then those of its parent.
    assert_eq!(count("dispatch 256 "), 32, "{lines:?}");
    assert_eq!(
        (count("life: OnLoad"), count("life: OnUnload")),
        (2, 2),
        "{lines:?}"
    );
}

/// Kernels that spill get scratch while the queue runs; what a queue gets up front is told of as well.
#[test]
fn a_tool_hears_of_scratch() {
    if !ready() {
        return;
    }
    let tool = tool("scratch.cpp", "scratch", &[]);
    let heard = |client: &str, arguments: &[&str], scratch: &str| {
        let log = log(&format!("scratch-{client}"));
        let mut command = with_tools(client, &list(&[&tool]), &log);
        command
            .arg(code_objects())
            .args(arguments)
            .env("HSA_SCRATCH_MEM", scratch);
        judge(MACHINE, client, &mut command);
        lines(&log)
    };
    let limited = heard("scratch", &[], "0");
    for what in ["alloc-start", "alloc-end", "free-start", "free-end"] {
        let of = |flags: &str| {
            limited
                .iter()
                .any(|line| line.starts_with(what) && line.split(' ').nth(2) == Some(flags))
        };
        assert!(of("0") && of("1"), "{what}: {limited:?}");
    }
    let reclaims = |what: &str| limited.iter().filter(|line| line.starts_with(what)).count();
    assert!(reclaims("reclaim-start") > 2);
    assert_eq!(reclaims("reclaim-start"), reclaims("reclaim-end"));
    for lines in [heard("kernels", &["spill"], "0"), heard("tooled", &[], "2048")] {
        assert!(!lines.is_empty() && !lines.iter().any(|line| line.contains("reclaim")));
        // Each allocation has an end with memory, and is given back with its queue, in this order.
        let of = |what: &str| -> Vec<&str> {
            let lines = lines.iter().filter_map(|line| line.strip_prefix(what));
            lines.filter_map(|rest| rest.split(' ').nth(1)).collect()
        };
        assert_eq!(of("alloc-start"), of("alloc-end"), "{lines:?}");
        assert_eq!(of("free-start"), of("free-end"), "{lines:?}");
        assert_eq!(of("alloc-start").len(), of("free-start").len(), "{lines:?}");
        for end in lines.iter().filter(|line| line.starts_with("alloc-end")) {
            let numbers: Vec<u64> = end.split(' ').skip(3).filter_map(|n| n.parse().ok()).collect();
            assert!(
                matches!(*numbers, [bytes, slots] if bytes >= slots * 256 && slots > 0),
                "{end}"
            );
        }
        assert!(!lines.iter().any(|line| line == "unknown"), "{lines:?}");
    }
}

#[test]
fn tools_are_loaded_in_order_told_of_the_end_in_reverse_and_loaded_again() {
    if !ready() {
        return;
    }
    let a = tool("behave.c", "a", &["NAME=\"a\""]);
    let b = tool("behave.c", "b", &["NAME=\"b\""]);
    let log = log("order");
    // The same tool twice is one tool.
    let output = passes(with_tools("tooled", &list(&[&b, &a, &b]), &log));
    let life = [
        "b: OnLoad version 3, 0 failed:",
        "a: OnLoad version 3, 0 failed:",
        "a: OnUnload",
        "b: OnUnload",
    ];
    assert_eq!(lines(&log), [life, life].concat());
    assert_eq!(said(&output), [""; 0]);
}

#[test]
fn a_tool_may_call_everything_while_it_is_loaded_and_unloaded() {
    if !ready() {
        return;
    }
    let curious = tool("behave.c", "curious", &["NAME=\"curious\"", "CURIOUS"]);
    let log = log("curious");
    passes(with_tools("tooled", &list(&[&curious]), &log));
    let life = [
        "curious: OnLoad version 3, 0 failed:",
        "curious: loading: looked around",
        "curious: unloading: looked around",
        "curious: OnUnload",
    ];
    assert_eq!(lines(&log), [life, life].concat());
}

#[test]
fn bad_tools_are_named_once_and_change_nothing() {
    if !ready() {
        return;
    }
    let unwilling = tool("behave.c", "unwilling", &["NAME=\"unwilling\"", "UNWILLING"]);
    let silent = tool("behave.c", "silent", &["NAME=\"silent\"", "SILENT"]);
    let good = tool("behave.c", "good", &["NAME=\"good\""]);
    let log = log("bad");
    let missing = Path::new("/nowhere/libmissing.so");
    let broken = scratch_dir("tools").join("broken.so");
    std::fs::write(&broken, "no library").expect("The target directory can be written");
    let tools = [&unwilling, missing, &silent, &broken, &good];
    let output = passes(with_tools("tooled", &list(&tools), &log));
    let good_line = "good: OnLoad version 3, 4 failed: libmissing.so broken.so unwilling.so silent.so";
    let lines = lines(&log);
    assert!(lines.iter().any(|line| line == good_line), "{lines:?}");
    let said = said(&output);
    for (tool, why) in [
        (missing, "No such file"),
        (&broken, "file too short"),
        (&unwilling, "its OnLoad answered false"),
        (&silent, "it has no function OnLoad"),
    ] {
        let name = format!("HSA_TOOLS_LIB: tool \"{}\": ", tool.display());
        let about: Vec<_> = said.iter().filter(|line| line.contains(&name)).collect();
        // The program starts the runtime twice.
        assert!(
            about.len() == 2 && about.iter().all(|line| line.contains(why)),
            "{said:?}"
        );
    }
    assert_eq!(said.len(), 8, "{said:?}");
}

#[test]
fn failures_are_not_reported_when_nobody_wants_to_know() {
    if ready() {
        let log = log("quiet");
        let mut command = with_tools("tooled", "1 /nowhere/libmissing.so", &log);
        command.env("HSA_TOOLS_REPORT_LOAD_FAILURE", "0");
        assert_eq!(said(&passes(command)), [""; 0]);
        let output = passes(with_tools("tooled", "1", &log));
        assert!(said(&output).iter().all(|line| line.contains("tool \"1\": ")));
    }
}

#[test]
fn libraries_that_are_loaded_already_come_by_their_priority_after_the_list() {
    if !ready() {
        return;
    }
    let named = tool("behave.c", "named", &["NAME=\"named\""]);
    let late = tool("behave.c", "late", &["NAME=\"late\"", "PRIORITY=9"]);
    let early = tool("behave.c", "early", &["NAME=\"early\"", "PRIORITY=3"]);
    let log = log("priority");
    let mut command = with_tools("tooled", &list(&[&named]), &log);
    command.env("LD_PRELOAD", list(&[&late, &early]));
    passes(command);
    let loaded: Vec<String> = lines(&log)
        .iter()
        .filter_map(|line| Some(line.split_once(": OnLoad")?.0.to_owned()))
        .collect();
    assert_eq!(loaded[..3], ["named", "early", "late"], "{loaded:?}");
}

#[test]
fn rocprofiler_register_gets_the_tables_first() {
    if !ready() {
        return;
    }
    let tool = tool("behave.c", "after", &["NAME=\"after\""]);
    let run = |variables: &[(&str, &str)], answer: &str| {
        let register = hansa_tests::tool_client::tool(
            "register.c",
            &format!("register-{answer}"),
            &[&format!("ANSWER={answer}")],
        );
        let dir = scratch_dir("tools").join(format!("register-{answer}-dir"));
        std::fs::create_dir_all(&dir).expect("The target directory can be written");
        std::fs::copy(register, dir.join("librocprofiler-register.so.0")).expect("The tool was made");
        let log = log("register");
        let mut command = with_tools("tooled", &list(&[&tool]), &log);
        let libraries = hansa_tests::artifacts::libraries();
        command.env(
            "LD_LIBRARY_PATH",
            format!("{}:{}", libraries.display(), dir.display()),
        );
        command.envs(variables.iter().copied());
        let output = passes(command);
        (lines(&log), said(&output))
    };
    let taken = "register: hsa 13400, 1 table, version 3";
    let loaded = "after: OnLoad version 3, 0 failed:";
    let has = |lines: &[String], line: &str| lines.iter().any(|l| l == line);

    // A profiler took them: other tools are its business, unless somebody wants both.
    let (lines, _) = run(&[], "0");
    assert!(has(&lines, taken) && !has(&lines, loaded), "{lines:?}");
    let (lines, _) = run(&[("HSA_TOOLS_ROCPROFILER_V1_TOOLS", "1")], "0");
    assert!(has(&lines, taken) && has(&lines, loaded), "{lines:?}");
    // There is no profiler.
    let (lines, said) = run(&[("HSA_TOOLS_REPORT_REGISTER_FAILURE", "1")], "1");
    assert!(
        has(&lines, taken) && has(&lines, loaded) && said.is_empty(),
        "{lines:?} {said:?}"
    );
    // Something went wrong.
    let (lines, said) = run(&[("HSA_TOOLS_REPORT_REGISTER_FAILURE", "1")], "6");
    assert!(has(&lines, loaded), "{lines:?}");
    assert!(
        has(&said, "hansa: rocprofiler-register: error text 6"),
        "{said:?}"
    );
    // Nobody is asked.
    let (lines, _) = run(&[("HSA_TOOLS_DISABLE_REGISTER", "1")], "0");
    assert!(!has(&lines, taken) && has(&lines, loaded), "{lines:?}");
}

/// A profiler of the newer kind, with tables checked against the header, under programs that know nothing of it.
#[test]
fn a_profiler_that_is_registered_times_dispatches_and_copies() {
    if !ready() {
        return;
    }
    let tool = tool("sdk.c", "sdk", &[]);
    let dir = scratch_dir("tools").join("sdk-dir");
    std::fs::create_dir_all(&dir).expect("The target directory can be written");
    std::fs::copy(tool, dir.join("librocprofiler-register.so.0")).expect("The tool was made");
    for plugins in [Plugins::BuiltIn, Plugins::Loaded] {
        let run = |client: &str| -> Vec<String> {
            let log = log(&format!("sdk-{client}-{plugins:?}"));
            let machine = Machine::gfx900(plugins);
            let mut command = machine.command(&program(client));
            let libraries = hansa_tests::artifacts::libraries();
            command.arg(code_objects()).env("TOOL_LOG", &log).env(
                "LD_LIBRARY_PATH",
                format!("{}:{}", libraries.display(), dir.display()),
            );
            judge(machine, client, &mut command);
            lines(&log)
        };
        let lines = run("traced");
        let of = |kind: &str| -> Vec<&str> {
            let lines = lines.iter().filter_map(|line| line.strip_prefix(kind));
            lines.filter_map(|rest| rest.strip_prefix(' ')).collect()
        };
        let tables = [
            "root 3 64 1",
            "core 2 1016 0",
            "amd 2 768 21",
            "finalizer 2 64 0",
            "image 2 128 1",
            "tools 1 64 0",
            "sampling 1 72 0",
        ];
        assert_eq!(of("table"), tables);
        assert_eq!((of("empty"), of("wrong")), (vec![], vec![]));
        assert_eq!((of("dispatch").len(), of("code")), (16, vec!["1"]));
        assert!(of("dispatch").iter().all(|time| *time != "0"), "{lines:?}");
        assert!(
            matches!(&of("copy")[..], [copy] if copy.starts_with("1048576 ")),
            "{lines:?}"
        );
        // Many packets, some of them from several threads, and each with one of the profiler's behind it.
        let lines = run("packets");
        let wrong: Vec<_> = lines.iter().filter(|line| line.starts_with("wrong")).collect();
        assert!(
            wrong.is_empty() && lines.iter().any(|line| line.starts_with("dispatch")),
            "{wrong:?}"
        );
    }
}
