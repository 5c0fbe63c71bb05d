//! AMD's unmodified runtime on the virtual kernel: Debian's `rocminfo`.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

const ROCMINFO: &str = "/usr/bin/rocminfo";

/// The library. Cargo does not build it for this test by itself.
fn preload() -> PathBuf {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT
        .get_or_init(|| {
            let test = std::env::current_exe().unwrap();
            let directory = test.ancestors().nth(2).unwrap();
            let mut build = Command::new(env!("CARGO"));
            build.args(["build", "--locked", "-p", env!("CARGO_PKG_NAME")]);
            if directory.ends_with("release") {
                build.arg("--release");
            }
            assert!(build.status().unwrap().success());
            directory.join("libhansa_vkernel_preload.so")
        })
        .clone()
}

/// Runs `rocminfo` on a machine; `None` where Debian's is not installed.
fn rocminfo(machine: &str, variables: &[(&str, &str)]) -> Option<Output> {
    if !Path::new(ROCMINFO).exists() {
        return None;
    }
    let output = Command::new("timeout")
        .args(["60", ROCMINFO])
        .env("LD_PRELOAD", preload())
        .env("VKERNEL_MACHINE", machine)
        .env("VKERNEL_DIR", env!("CARGO_TARGET_TMPDIR"))
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    Some(output)
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Values of a key, agent by agent.
fn values<'a>(text: &'a str, key: &str) -> Vec<&'a str> {
    text.lines()
        .filter_map(|line| line.trim().strip_prefix(key)?.strip_prefix(':'))
        .map(str::trim)
        .collect()
}

#[test]
fn a_vega_10_is_what_amds_runtime_sees() {
    let Some(output) = rocminfo("gfx900", &[]) else {
        return;
    };
    let shown = text(&output);
    assert!(
        output.status.success(),
        "{shown}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "",
        "the kernel complained"
    );
    assert!(shown.contains("ROCk module is loaded"));
    assert!(shown.trim_end().ends_with("*** Done ***"));
    let names = values(&shown, "Name");
    assert!(
        names.contains(&"gfx900") && names.contains(&"amdgcn-amd-amdhsa--gfx900:xnack-"),
        "{names:?}"
    );
    assert_eq!(values(&shown, "Marketing Name")[1], "AMD Radeon RX Vega");
    assert_eq!(values(&shown, "Uuid")[1], "GPU-00008e4114452d4b");
    assert_eq!(values(&shown, "Compute Unit")[1], "64");
    assert_eq!(values(&shown, "BDFID")[1], "768");
    assert!(values(&shown, "Size").contains(&"8372224(0x7fc000) KB"));
}

#[test]
fn several_gpus_are_seen_in_order() {
    let Some(output) = rocminfo("gfx90a,gfx1030,gfx906", &[]) else {
        return;
    };
    let shown = text(&output);
    assert!(output.status.success(), "{shown}");
    let gpus: Vec<&str> = values(&shown, "Name")
        .into_iter()
        .filter(|name| name.starts_with("gfx"))
        .collect();
    assert_eq!(gpus, ["gfx90a", "gfx1030", "gfx906"]);
}

/// An old kernel is enough for it, and a new one is not too much.
#[test]
fn interfaces_old_and_new_serve() {
    for minor in ["1", "6", "8", "17"] {
        let Some(output) = rocminfo("gfx900", &[("VKERNEL_MINOR", minor)]) else {
            return;
        };
        assert!(text(&output).contains("gfx900"), "1.{minor}");
    }
}

/// Failures reach the program as those of a kernel do.
#[test]
fn a_script_of_failures_is_obeyed() {
    let Some(output) = rocminfo("gfx900", &[("VKERNEL_FAULTS", "open /dev/kfd=13x1000")]) else {
        return;
    };
    assert!(!output.status.success());
    assert!(!text(&output).contains("gfx900"));
}

/// Programs that have nothing to do with GPUs run as ever.
#[test]
fn other_programs_are_left_alone() {
    let run = |preloaded: bool| {
        let mut command = Command::new("sh");
        command.args(["-c", "ls -la /dev/null /usr/lib > /dev/null && stat -c %F /dev/null && cat /etc/hostname /proc/version"]);
        if preloaded {
            command.env("LD_PRELOAD", preload());
        }
        let output = command.output().unwrap();
        (text(&output), output.status.success())
    };
    assert_eq!(run(true), run(false));
}
