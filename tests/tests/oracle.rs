//! The whole interface against AMD's runtime: every function in every state with right and wrong arguments, every
//! attribute of every object, and the same calls from 64 threads at once.
//!
//! The programs and AMD's answers (ROCr 5.2.3 on a virtual gfx900) are in `tests/clients/oracle`, with notes on where
//! AMD's runtime is not to be followed.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use hansa_tests::artifacts::{libraries, scratch_dir};
use hansa_tests::c_client::{own_headers, repository, Client};
use hansa_tests::hsa_client::{ready, Machine, Plugins};
use hansa_tests::oracle::{is_death, Answers, Differences};
use hansa_tests::side::{is_comparable, Side};

/// Threads that make each call at once.
const CROWD: &str = "64";

fn sources() -> PathBuf {
    repository().join("tests/clients/oracle")
}

fn read(file: &str) -> String {
    let path = sources().join(file);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Compiles a program of the oracle, against our own headers when Debian's do not have what it calls. Tests run side by
/// side, so each of them gets a file of its own.
fn program(name: &str, own: bool) -> PathBuf {
    let test = format!("{name}-{:?}", std::thread::current().id());
    let program = scratch_dir("oracle").join(test);
    let mut client = Client::new("gcc", "c", "gnu11");
    if own {
        let above = own_headers();
        client = client.include(
            above
                .parent()
                .expect("The headers are in a directory of their own"),
        );
    }
    let search = format!("-L{}", libraries().display());
    // The programs make nested functions and calls with arguments of wrong types on purpose.
    for argument in [
        "-O1",
        "-g",
        "-w",
        "-Wl,--no-as-needed",
        "-Wl,--no-warn-execstack",
        "-Wl,-z,lazy",
        &search,
        "-lhsa-runtime64",
        "-ldl",
        "-pthread",
    ] {
        client = client.argument(argument);
    }
    let source = sources().join(name).with_extension("c");
    client
        .compile(&source, &program)
        .unwrap_or_else(|message| panic!("{message}"));
    program
}

fn answers(plugins: Plugins, program: &Path, configure: impl FnOnce(&mut Command)) -> Answers {
    let mut command = Machine::gfx900(plugins).command(program);
    configure(&mut command);
    answers_of(command, program)
}

fn answers_of(mut command: Command, program: &Path) -> Answers {
    // What the programs name relative to where they are: code objects.
    command.env("STATUS_CO_DIR", sources().join("co"));
    let output = command.output().expect("timeout is a part of every system");
    assert!(
        output.status.success(),
        "{} ended with {}",
        program.display(),
        output.status
    );
    Answers::parse(&String::from_utf8_lossy(&output.stdout))
}

/// Compares what a program prints with AMD's answers, but for the committed differences.
fn compare(name: &str, plugins: Plugins, cases: usize) {
    if !ready() {
        return;
    }
    let ours = answers(plugins, &program(name, false), |_| ());
    judge(
        name,
        &ours,
        cases,
        &differences(&format!("differences-{name}.txt")),
    );
}

fn differences(file: &str) -> Differences {
    Differences::parse(&read(file)).expect("Every difference has a reason and an answer")
}

fn judge(name: &str, ours: &Answers, cases: usize, differences: &Differences) {
    let theirs = Answers::parse(&read(&format!("rocr-5.2.3-{name}.txt")));
    assert_eq!(theirs.len(), cases, "AMD's answers are not all here");
    let mut complaints = differences.complaints(ours, &theirs);
    let deaths = ours.iter().filter(|(_, answer)| is_death(answer));
    complaints.extend(deaths.map(|(case, answer)| format!("{case} must have an answer: {answer}")));
    assert!(
        complaints.is_empty(),
        "{} complaints about {} answers:\n{}",
        complaints.len(),
        ours.len(),
        complaints.join("\n")
    );
}

#[test]
fn every_call_answers_as_amds_runtime_or_better() {
    compare("status", Plugins::BuiltIn, 3234);
}

#[test]
fn every_attribute_is_that_of_amds_runtime_or_better() {
    compare("info", Plugins::BuiltIn, 1005);
}

/// On the virtual kernel, where AMD's answers are from, too.
#[test]
fn on_the_virtual_kernel_it_is_that_of_amds_runtime_or_better() {
    if !is_comparable() {
        return;
    }
    for (name, cases) in [("status", 3234), ("info", 1005)] {
        let program = program(name, false);
        let ours = answers_of(Side::Kfd.command("gfx900", &program), &program);
        let base = differences(&format!("differences-{name}.txt"));
        let own = differences(&format!("differences-{name}-kfd.txt"));
        judge(name, &ours, cases, &base.elsewhere(own));
    }
}

#[test]
fn with_loaded_plugins_it_is_the_same() {
    compare("status", Plugins::Loaded, 3234);
    compare("info", Plugins::Loaded, 1005);
}

/// Every function that AMD's runtime 5.2.3 exports is called.
#[test]
fn every_function_is_covered() {
    let theirs = Answers::parse(&read("rocr-5.2.3-status.txt"));
    let called: HashSet<&str> = theirs
        .iter()
        .filter_map(|(case, _)| case.split(" | ").next())
        .filter(|name| name.starts_with("hsa_") && !name.starts_with("hsa_ven_amd_loader_"))
        .collect();
    assert_eq!(called.len(), 224, "and _amdgpu_r_debug makes 225");
    let exported =
        std::fs::read_to_string(repository().join("tests/data/exports.txt")).expect("It is committed");
    let exported: HashSet<&str> = exported
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .collect();
    let missing: Vec<_> = called.iter().filter(|name| !exported.contains(*name)).collect();
    assert!(missing.is_empty(), "not exported: {missing:?}");
}

/// The functions that came after 5.2.3, against what their headers say.
#[test]
fn functions_that_came_later_answer_as_documented() {
    if !ready() {
        return;
    }
    let ours = answers(Plugins::BuiltIn, &program("later", true), |_| ());
    let expected = Answers::parse(&read("later.txt"));
    let complaints = Differences::default().complaints(&ours, &expected);
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    let called: HashSet<&str> = ours
        .iter()
        .filter_map(|(case, _)| case.split(" | ").next())
        .collect();
    let old = read("rocr-5.2.3-status.txt");
    let exported =
        std::fs::read_to_string(repository().join("tests/data/exports.txt")).expect("It is committed");
    let uncalled: Vec<&str> = exported
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .filter(|name| name.starts_with("hsa_") && !called.contains(name))
        .filter(|name| !old.contains(&format!("{name} | ")))
        .collect();
    assert!(uncalled.is_empty(), "never called: {uncalled:?}");
}

/// What other threads may get where only one can succeed.
fn too_late(function: &str) -> Option<&'static str> {
    // Behind `HSA_STATUS_ERROR`.
    let status = match function {
        "hsa_amd_register_system_event_handler" | "hsa_amd_counted_queue_release" => " (0x1000)",
        "hsa_shut_down" => "_NOT_INITIALIZED (0x100b)",
        "hsa_signal_destroy" => "_INVALID_SIGNAL (0x1006)",
        "hsa_signal_group_destroy" => "_INVALID_SIGNAL_GROUP (0x1024)",
        "hsa_queue_destroy" => "_INVALID_QUEUE (0x1007)",
        "hsa_queue_create" => "_OUT_OF_RESOURCES (0x1008)",
        "hsa_memory_free" | "hsa_amd_memory_pool_free" => "_INVALID_ALLOCATION (0x1003)",
        "hsa_amd_deregister_deallocation_callback" | "hsa_ext_image_destroy" | "hsa_ext_sampler_destroy" => {
            "_INVALID_ARGUMENT (0x1001)"
        }
        // The answer stands where the question stood, and all threads share it.
        "hsa_amd_svm_attributes_get" => "_INVALID_ARGUMENT (0x1001)",
        "hsa_code_object_destroy" => "_INVALID_CODE_OBJECT (0x1010)",
        "hsa_code_object_reader_destroy" => "_INVALID_CODE_OBJECT_READER (0x1021)",
        "hsa_executable_destroy" => "_INVALID_EXECUTABLE (0x1011)",
        "hsa_executable_freeze" => "_FROZEN_EXECUTABLE (0x1012)",
        "hsa_executable_load_agent_code_object"
        | "hsa_executable_load_code_object"
        | "hsa_executable_global_variable_define"
        | "hsa_executable_agent_global_variable_define"
        | "hsa_executable_readonly_variable_define" => "_VARIABLE_ALREADY_DEFINED (0x1014)",
        _ => return None,
    };
    Some(status)
}

/// Many threads get what one gets; where a call uses something up, one of them does and the others are told so.
fn crowd_of(name: &str, own: bool) {
    if !ready() {
        return;
    }
    let program = program(name, own);
    let alone = answers(Plugins::BuiltIn, &program, |_| ());
    let alone: HashMap<&str, &str> = alone.by_case();
    let crowd = answers(Plugins::BuiltIn, &program, |command| {
        command.env("STATUS_CROWD", CROWD);
    });
    let mut complaints = Vec::new();
    for (case, answer) in crowd.iter() {
        let function = case.split(" | ").next().unwrap_or_default();
        let single = alone
            .get(case)
            .and_then(|a| a.split(" | ").next())
            .unwrap_or_default();
        let one_too_many = answer
            .strip_prefix("HSA_STATUS_SUCCESS (0x0), HSA_STATUS_ERROR")
            .is_some_and(|rest| single == "HSA_STATUS_SUCCESS (0x0)" && too_late(function) == Some(rest));
        let same = answer == "VALUES" || answer.split(" | ").next() == Some(single);
        if is_death(answer) || !(same || one_too_many) {
            complaints.push(format!("{case}: one thread gets {single}, {CROWD} get {answer}"));
        }
    }
    assert_eq!(crowd.len(), alone.len());
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn every_call_from_many_threads_at_once() {
    crowd_of("status", false);
}

#[test]
fn functions_that_came_later_from_many_threads_at_once() {
    crowd_of("later", true);
}
