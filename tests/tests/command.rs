//! The `hansa` command, as a person at a fresh checkout uses it.

use hansa_tests::artifacts::{libraries, scratch_dir};
use hansa_tests::command::{self, text};
use std::path::{Path, PathBuf};
use std::process::Command;

fn hansa(arguments: &[&str]) -> Command {
    command::hansa("command-home", arguments)
}

fn json(command: &mut Command) -> serde_json::Value {
    let output = command.output().expect("the command was built");
    assert!(output.status.success(), "{}", text(&output));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

#[test]
fn the_demo_computes_on_the_software_gpu() {
    let output = hansa(&["demo"]).output().expect("the command was built");
    assert!(output.status.success(), "{}", text(&output));
    let shown = text(&output);
    assert!(
        shown.contains("GPU gfx900") && shown.contains("all 1000000 sums are right"),
        "{shown}"
    );
}

#[test]
fn info_shows_the_agents_that_were_asked_for() {
    let set = "backend.sim.devices = 2\nbackend.sim.isa = \"gfx90a\"\n";
    let machine = json(hansa(&["info", "--json"]).env("HANSA_SET", set));
    let agents = machine["agents"].as_array().expect("a list");
    let gpus: Vec<_> = agents.iter().filter(|a| a["kind"] == "GPU").collect();
    assert_eq!(gpus.len(), 2);
    assert!(
        gpus.iter()
            .all(|g| g["name"] == "gfx90a" && g["driver"] == "org.hansa.sim"),
        "{gpus:?}"
    );
    assert_eq!(agents[0]["kind"], "CPU");
}

/// A number at the end of the variable means one node and wins there; an empty variable is none.
#[test]
fn info_shows_the_versions_of_gpus_that_were_asked_for() {
    let set = "backend.sim.devices = 3\nbackend.sim.isa = \"gfx906\"\n";
    let asked = |variables: &[(String, &str)]| {
        let mut command = hansa(&["info", "--json"]);
        command.env("HANSA_SET", set);
        for (name, value) in variables {
            command.env(name, value);
        }
        let machine = json(&mut command);
        let agents = machine["agents"].as_array().expect("a list").clone();
        agents
            .into_iter()
            .filter(|a| a["kind"] == "GPU")
            .collect::<Vec<_>>()
    };
    let names = |gpus: &[serde_json::Value]| -> Vec<String> {
        gpus.iter()
            .map(|g| g["name"].as_str().expect("a name").to_owned())
            .collect()
    };
    let plain = asked(&[]);
    assert_eq!(names(&plain), ["gfx906"; 3]);
    let first = plain[0]["node"].as_u64().expect("a number");
    let of = |place: u64| format!("HSA_OVERRIDE_GFX_VERSION_{}", first + place);
    let numbered = asked(&[(of(0), "11.0.0"), (of(1), "10.3.0"), (of(2), "")]);
    assert_eq!(names(&numbered), ["gfx1100", "gfx1030", "gfx906"]);
    assert_eq!(numbered[0]["isas"][0], "amdgcn-amd-amdhsa--gfx1100");
    let all = "HSA_OVERRIDE_GFX_VERSION".to_owned();
    let both = asked(&[(all, "9.0.10"), (of(1), "9.0.0")]);
    assert_eq!(names(&both), ["gfx90a", "gfx900", "gfx90a"]);
    assert_eq!(both[2]["isas"][0], "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-");
}

#[test]
fn nothing_is_missing() {
    let output = hansa(&["info", "--missing"]).output().expect("built");
    assert!(output.status.success(), "{}", text(&output));
    assert_eq!(text(&output), "");
}

#[test]
fn the_doctor_names_every_plugin_and_why() {
    let report = json(&mut hansa(&["doctor", "--json"]));
    let plugins = report["plugins"].as_array().expect("a list");
    for id in [
        "org.hansa.sim",
        "org.hansa.amd",
        "org.hansa.image",
        "org.hansa.finalizer",
    ] {
        let plugin = plugins
            .iter()
            .find(|p| p["id"] == id)
            .unwrap_or_else(|| panic!("{id} is not there"));
        assert_eq!(plugin["outcome"], "loaded", "{plugin}");
        assert!(plugin["sentence"].is_string(), "{plugin}");
    }
}

/// A copy of the built software GPU with its manifest, in a directory of its own.
fn copied_plugin(name: &str, version: &str) -> PathBuf {
    let directory = scratch_dir(name);
    let library = "libhansa_sim_plugin.so";
    std::fs::copy(libraries().join(library), directory.join(library)).expect("the plugin was built");
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../plugins/sim/80-org.hansa.sim.toml");
    let text = std::fs::read_to_string(manifest).expect("the plugin has a manifest");
    let current = concat!("version = \"", env!("CARGO_PKG_VERSION"), "\"");
    assert!(text.contains(current), "{text}");
    let text = text.replace(current, &format!("version = \"{version}\""));
    std::fs::write(directory.join("80-org.hansa.sim.toml"), text).expect("the directory can be written");
    directory
}

#[test]
fn a_copy_of_a_higher_version_serves_instead_of_the_built_in() {
    let directory = copied_plugin("command-newer", "9.9.9");
    let report = json(hansa(&["doctor", "--json"]).env("HANSA_PLUGIN_ADD", &directory));
    let sims: Vec<_> = report["plugins"]
        .as_array()
        .expect("a list")
        .iter()
        .filter(|p| p["id"] == "org.hansa.sim")
        .collect();
    assert_eq!(sims.len(), 2, "{report}");
    for sim in sims {
        let newer = sim["version"] == "9.9.9";
        assert_eq!(sim["outcome"] == "loaded", newer, "{sim}");
        assert_eq!(sim["built_in"] == true, !newer, "{sim}");
    }
    let output = hansa(&["demo"])
        .env("HANSA_PLUGIN_ADD", &directory)
        .output()
        .expect("the command was built");
    assert!(output.status.success(), "{}", text(&output));
}

#[test]
fn a_copy_of_a_lower_version_does_not_serve() {
    let directory = copied_plugin("command-older", "0.0.1");
    let report = json(hansa(&["doctor", "--json"]).env("HANSA_PLUGIN_ADD", &directory));
    let served = report["plugins"]
        .as_array()
        .expect("a list")
        .iter()
        .find(|p| p["id"] == "org.hansa.sim" && p["outcome"] == "loaded");
    assert_eq!(served.expect("one serves")["built_in"], true);
}

#[test]
fn run_puts_the_runtime_in_front_of_a_program() {
    let output = hansa(&["run", "--set", "backend.sim.devices=3", "--", "env"])
        .output()
        .expect("built");
    assert!(output.status.success(), "{}", text(&output));
    let shown = text(&output);
    let path = format!("LD_LIBRARY_PATH={}", libraries().display());
    assert!(
        shown.contains(&path) && shown.contains("HANSA_SET=backend.sim.devices = 3"),
        "{shown}"
    );
}

#[test]
fn run_says_in_one_line_why_a_program_cannot_run() {
    let script = scratch_dir("command-run").join("data");
    std::fs::write(&script, "neither").expect("the directory can be written");
    let script = script.to_string_lossy().into_owned();
    for (program, reason) in [
        ("no-such-program-anywhere", "not found in PATH"),
        ("/no/such/program", "no such file"),
        (script.as_str(), "neither a program nor a script"),
    ] {
        let output = hansa(&["run", "--", program]).output().expect("built");
        assert!(!output.status.success());
        let shown = text(&output);
        assert!(shown.contains(reason) && shown.lines().count() == 1, "{shown}");
    }
}

#[test]
fn a_plugin_is_switched_off_and_on_in_the_users_file() {
    let home = scratch_dir("command-switch");
    let _ = std::fs::remove_dir_all(home.join(".config"));
    let with_home = |arguments: &[&str]| {
        let mut command = hansa(arguments);
        command.env("HOME", &home);
        command
    };
    let sim = |report: &serde_json::Value| {
        report["plugins"]
            .as_array()
            .expect("a list")
            .iter()
            .find(|p| p["id"] == "org.hansa.sim")
            .cloned()
    };
    assert!(with_home(&["plugins", "disable", "org.hansa.sim"])
        .status()
        .expect("built")
        .success());
    let off = sim(&json(&mut with_home(&["plugins", "list", "--json"]))).expect("it is listed");
    assert_eq!(off["outcome"], "skipped", "{off}");
    assert!(with_home(&["plugins", "enable", "org.hansa.sim"])
        .status()
        .expect("built")
        .success());
    let on = sim(&json(&mut with_home(&["plugins", "list", "--json"]))).expect("it is listed");
    assert_eq!(on["outcome"], "loaded", "{on}");
}

#[test]
fn a_bad_setting_is_one_warning_with_its_place_and_form() {
    let output = hansa(&["info"])
        .env("HSA_DEBUG_LEVEL", "nine")
        .output()
        .expect("built");
    assert!(output.status.success(), "{}", text(&output));
    let warnings: Vec<String> = text(&output)
        .lines()
        .filter(|l| l.contains("HSA_DEBUG_LEVEL"))
        .map(str::to_owned)
        .collect();
    assert_eq!(warnings.len(), 1, "{}", text(&output));
    assert!(
        warnings[0].contains("nine") && warnings[0].contains('7'),
        "{warnings:?}"
    );
}

#[test]
fn completions_are_printed_for_every_shell() {
    for shell in ["bash", "zsh", "fish"] {
        let output = hansa(&["completions", shell]).output().expect("built");
        assert!(
            output.status.success() && text(&output).contains("doctor"),
            "{shell}"
        );
    }
}
