//! `hansa run` and `hansa env`: programs of ROCm on a machine without its kernel driver, and programs that cannot run.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use hansa_tests::artifacts::{compiler_output, libraries, scratch_dir};
use hansa_tests::c_client::{has_program, present, repository, Client};
use hansa_tests::command::{self, text};
use hansa_tests::hip_client::{self, Build};
use hansa_tests::kernels::code_objects;

fn hansa(arguments: &[&str]) -> Command {
    command::hansa("run-home", arguments)
}

fn run(arguments: &[&str]) -> Output {
    hansa(arguments).output().expect("the command was built")
}

/// Whether the look-ups are Hansa's to answer: not on a machine with AMD's driver.
fn without_driver() -> bool {
    let none = !Path::new("/dev/kfd").exists();
    if !none {
        eprintln!("skipped: this machine has /dev/kfd");
    }
    none
}

#[test]
fn rocminfo_shows_the_agents_of_info() {
    if !hip_client::ready() || !without_driver() {
        return;
    }
    let output = run(&[
        "run",
        "--isa",
        "gfx90a",
        "--set",
        "backend.sim.devices=2",
        "--",
        "rocminfo",
    ]);
    let shown = text(&output);
    assert!(output.status.success(), "{shown}");
    assert!(shown.contains("ROCk module is loaded"), "{shown}");
    assert!(shown.contains("*** Done ***"), "{shown}");
    let gpus = shown.matches("Name:                    gfx90a").count();
    assert_eq!(gpus, 2, "{shown}");
    assert!(shown.contains("amdgcn-amd-amdhsa--gfx90a:"), "{shown}");
}

#[test]
fn the_enumerator_lists_the_gpus() {
    if !hip_client::ready() || !without_driver() {
        return;
    }
    let output = run(&["run", "--", "rocm_agent_enumerator"]);
    assert_eq!(text(&output), "gfx000\ngfx900\n");
    let several = ["run", "--isa", "gfx90a", "--set", "backend.sim.devices=2"];
    let output = run(&[&several[..], &["--", "rocm_agent_enumerator"]].concat());
    assert_eq!(text(&output), "gfx000\ngfx90a\ngfx90a\n");
    let output = run(&["run", "--isa", "gfx906", "--", "rocm_agent_enumerator", "-name"]);
    assert!(text(&output).contains("gfx906:sramecc"), "{}", text(&output));
}

#[test]
fn hipcc_compiles_for_the_gpu_that_is_there() {
    if !hip_client::ready() || !without_driver() {
        return;
    }
    let program = scratch_dir("run").join("compiled-under-run");
    let source = hip_client::sources().join("symbols.cpp");
    let (source, target) = (source.to_string_lossy(), program.to_string_lossy());
    let output = compiler_output(&mut hansa(&[
        "run",
        "--isa",
        "gfx908",
        "--",
        "hipcc",
        "-std=c++17",
        "-O1",
        &source,
        "-o",
        &target,
    ]))
    .expect("the command was built");
    assert!(output.status.success(), "{}", text(&output));
    let output = run(&["run", "--isa", "gfx908", "--", &target]);
    assert!(output.status.success(), "{}", text(&output));
    assert!(
        text(&output).ends_with(" passed, 0 failed\n"),
        "{}",
        text(&output)
    );
}

#[test]
fn the_environment_is_the_one_that_programs_are_run_with() {
    let options = ["--isa", "gfx906", "--set", "backend.sim.devices=3"];
    let printed = run(&[&["env"][..], &options].concat());
    let inside = run(&[&["run"][..], &options, &["--", "env"]].concat());
    let (printed, inside) = (text(&printed), text(&inside));
    let mut lines = 0;
    // A value can have several lines.
    for line in printed.lines() {
        assert!(
            inside.lines().any(|other| other == line),
            "{line}\nis not in\n{inside}"
        );
        lines += 1;
    }
    assert!(lines >= 3, "{printed}");
    assert!(printed.contains("LD_LIBRARY_PATH="), "{printed}");
    if without_driver() {
        assert!(
            printed.contains("HANSA_PRESENCE=0,90006,90006,90006"),
            "{printed}"
        );
        assert!(printed.contains("libhansa_presence.so"), "{printed}");
    }
}

/// What answers look-ups is no driver to anybody who asks more, and nothing else is changed.
#[test]
fn the_presence_is_no_driver() {
    if !without_driver() {
        return;
    }
    let script = r#"
import fcntl, os, stat
device = os.open("/dev/kfd", os.O_RDWR)
try:
    fcntl.ioctl(device, 0x80084b01, bytes(8))
except OSError as error:
    print(error.errno)
print(stat.S_ISCHR(os.stat("/dev/kfd").st_mode), "kfd" in os.listdir("/dev"), os.path.exists("/dev/dri/renderD128"))
print(os.listdir("/sys/class/kfd/kfd/topology/nodes"), os.path.exists("/sys/class/kfd/kfd/topology/nodes/2"))
print(open("/sys/class/kfd/kfd/topology/nodes/1/properties").read().strip())
print(open("/sys/module/amdgpu/initstate").read().strip(), os.path.exists("/sys/module/amdgpu"))
try:
    open("/sys/module/amdgpu/initstate", "w")
except PermissionError:
    print("read only")
print(os.path.isdir("/sys/class/kfd/kfd/topology/nodes/0"), sorted(os.listdir("/sys/module"))[:1] != [])
"#;
    let output = run(&["run", "--", "python3", "-c", script]);
    assert_eq!(
        text(&output),
        "25\nFalse False False\n['0', '1'] False\ngfx_target_version 90000\nlive False\nread only\nTrue True\n"
    );
}

/// The driver for AMD GPUs does not take the answers for a device.
#[test]
fn the_doctor_sees_no_driver_under_run() {
    if !without_driver() {
        return;
    }
    let command = libraries().join("hansa");
    let outside = run(&["doctor", "--json"]);
    let inside = run(&["run", "--", &command.to_string_lossy(), "doctor", "--json"]);
    let plugins = |output: &Output| {
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let of = |plugin: &serde_json::Value| (plugin["id"].clone(), plugin["outcome"].clone());
        let plugins = report["plugins"].as_array().expect("a list");
        plugins.iter().map(of).collect::<Vec<_>>()
    };
    assert_eq!(plugins(&inside), plugins(&outside));
}

#[test]
fn kernels_for_another_chip_are_named_before_hip_refuses_them() {
    if !hip_client::ready() {
        return;
    }
    let program = hip_client::program("symbols", Build::of("gfx906"));
    let output = run(&["run", "--", &program.to_string_lossy()]);
    let shown = text(&output);
    assert!(!output.status.success(), "{shown}");
    let line = shown
        .lines()
        .find(|line| line.starts_with("hansa: "))
        .unwrap_or_else(|| panic!("Hansa says nothing:\n{shown}"));
    assert!(
        line.contains("amdgcn-amd-amdhsa--gfx906,") && line.contains("amdgcn-amd-amdhsa--gfx900:xnack-"),
        "{line}"
    );
    assert!(shown.contains("hipErrorNoBinaryForGpu"), "{shown}");
    // With one of several chips that fits there is nothing to say.
    let program = hip_client::program("symbols", Build::of("gfx906,gfx900"));
    let output = run(&["run", "--", &program.to_string_lossy()]);
    assert!(output.status.success(), "{}", text(&output));
    assert!(!text(&output).contains("hansa:"), "{}", text(&output));
}

/// A program that finds no GPU because of what was asked for runs all the same; the reason is said first.
#[test]
fn why_there_is_no_gpu_is_said() {
    if !without_driver() {
        return;
    }
    let cases = [
        (["--isa", "gfx1234"], "hansa: --isa gfx1234: "),
        (["--backend", "nobody"], "hansa: no GPU: "),
    ];
    for (options, begin) in cases {
        let named = options[1];
        let output = run(&[&["run"][..], &options, &["--", "echo", "ran"]].concat());
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{options:?}: {}", text(&output));
        assert_eq!(output.stdout, b"ran\n", "{options:?}: {}", text(&output));
        let lines: Vec<_> = errors.lines().filter(|line| line.starts_with(begin)).collect();
        assert!(
            lines.len() == 1 && lines[0].contains(named),
            "{options:?}: {errors}"
        );
    }
}

/// A command that `hansa run` refuses, and the one line that says why.
fn refusal(program: &str) -> String {
    let output = run(&["run", "--", program]);
    assert!(!output.status.success(), "{}", text(&output));
    assert!(output.stdout.is_empty(), "{}", text(&output));
    let shown = text(&output);
    assert_eq!(shown.lines().count(), 1, "{shown}");
    shown
}

fn compiled(name: &str, options: &[&str]) -> PathBuf {
    let directory = scratch_dir("run");
    let source = directory.join(name).with_extension("c");
    std::fs::write(&source, "int main(void) { return 0; }\n").expect("The target directory can be written");
    let mut client = Client::new("gcc", "c", "c11");
    for option in options {
        client = client.argument(option);
    }
    let program = directory.join(name);
    client
        .compile(&source, &program)
        .unwrap_or_else(|error| panic!("{error}"));
    program
}

#[test]
fn what_cannot_run_is_refused_with_a_reason() {
    if !present(has_program("gcc"), "gcc", "gcc") {
        return;
    }
    assert!(refusal("/no/such/program").contains("/no/such/program: no such file"));
    assert!(refusal("no-such-program").contains("no-such-program: not found in PATH"));
    let directory = scratch_dir("run");
    let written = |name: &str, bytes: &[u8]| {
        let path = directory.join(name);
        std::fs::write(&path, bytes).expect("The target directory can be written");
        path.to_string_lossy().into_owned()
    };
    assert!(refusal(&written("text", b"no program\n")).contains("neither a program nor a script"));
    let script = written("script", b"#! /no/such/interpreter -x\necho\n");
    assert!(refusal(&script).contains("script: its interpreter /no/such/interpreter: No such file"));
    let fixed = compiled("fixed", &["-static"]);
    assert!(refusal(&fixed.to_string_lossy()).contains("statically linked"));
    // The machine is in bytes 18 and 19 of the header: one of nobody.
    let mut foreign = std::fs::read(compiled("foreign", &[])).expect("It was just compiled");
    foreign[18..20].copy_from_slice(&[0x34, 0x12]);
    assert!(refusal(&written("foreign", &foreign)).contains("for another machine"));
    foreign[4] = 1;
    assert!(refusal(&written("short", &foreign)).contains("32 bits"));
}

#[test]
fn a_missing_library_is_named() {
    if !present(has_program("gcc"), "gcc", "gcc") {
        return;
    }
    let directory = scratch_dir("run");
    let library = directory.join("libgone.so");
    let source = directory.join("gone.c");
    std::fs::write(&source, "int gone(void) { return 0; }\n").expect("The target directory can be written");
    Client::new("gcc", "c", "c11")
        .argument("-shared")
        .argument("-fPIC")
        .compile(&source, &library)
        .unwrap_or_else(|error| panic!("{error}"));
    let link = format!("-L{}", directory.display());
    let program = compiled("needs-gone", &[&link, "-Wl,--no-as-needed", "-lgone"]);
    std::fs::remove_file(library).expect("It was just compiled");
    assert!(refusal(&program.to_string_lossy()).contains("libgone.so"));
}

/// The exit status, the arguments and the standard streams are the program's own.
#[test]
fn the_program_is_as_it_is_without_hansa() {
    let output = run(&[
        "run",
        "--",
        "sh",
        "-c",
        "echo $0 $1; echo err >&2; exit 7",
        "a b",
        "c",
    ]);
    assert_eq!(output.status.code(), Some(7));
    assert_eq!(output.stdout, b"a b c\n");
    assert_eq!(output.stderr, b"err\n");
}

#[test]
fn python_runs_a_kernel_through_the_interface() {
    if !present(has_program("python3"), "python3", "python3") || !hansa_tests::hsa_client::ready() {
        return;
    }
    let script = repository().join("tests/clients/python/vector_add.py");
    let kernel = code_objects().join("gfx900/O3/vector_add.co");
    let (script, kernel) = (script.to_string_lossy(), kernel.to_string_lossy());
    let output = run(&["run", "--", "python3", &script, &kernel]);
    assert!(output.status.success(), "{}", text(&output));
    assert!(
        text(&output).contains("GPU gfx900\n1000 sums are right\n"),
        "{}",
        text(&output)
    );
}

#[test]
fn the_python_of_the_readme_lists_the_agents() {
    if !present(has_program("python3"), "python3", "python3") {
        return;
    }
    let readme = std::fs::read_to_string(repository().join("README.md")).expect("there is a README");
    let script = readme
        .split("```python\n")
        .nth(1)
        .and_then(|rest| rest.split("```").next())
        .expect("it shows some Python");
    let output = run(&["run", "--", "python3", "-c", script]);
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(
        shown.lines().count() >= 2 && shown.lines().any(|line| line == "gfx900"),
        "{shown}"
    );
}
