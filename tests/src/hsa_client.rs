//! The HSA clients of `tests/clients/hsa`: compiling them against Debian's headers, linking them with our library,
//! running them with the plugins linked in or loaded, and judging what they say.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, OnceLock};

use hansa_amd::AmdPlugin;
use hansa_core::plugin::Facts;
use hansa_finalizer::FinalizerPlugin;
use hansa_image::ImagePlugin;
use hansa_plugin_api::Plugin as _;
use hansa_sim::SimPlugin;

use crate::artifacts::{libraries, scratch_dir};
use crate::c_client::{debian_headers, has_program, present, repository, Client};
use crate::kernels::host_object;

/// Seconds that a client may take; the slowest takes a small part of it.
const LIMIT: &str = "600";

/// Clients of functions that Debian's header does not have; they are compiled against our own.
const NEWER: &[&str] = &[
    "copies", "levels", "npu", "pages", "peers", "scratch", "sharing", "svm", "vmem",
];

/// Whether clients and kernels can be compiled here. A test that gets `false` has nothing to do.
///
/// # Panics
///
/// When something is missing in CI.
#[must_use]
pub fn ready() -> bool {
    let headers = debian_headers().join("hsa.h").exists();
    let device_libraries = Path::new("/usr/lib/x86_64-linux-gnu/amdgcn/bitcode/ockl.bc").exists();
    present(has_program("gcc"), "gcc", "gcc")
        && present(headers, "<hsa/hsa.h>", "libhsa-runtime-dev")
        && present(has_program("clang-15"), "clang-15", "clang-15")
        && present(has_program("ld.lld-15"), "ld.lld-15", "lld-15")
        && present(device_libraries, "the device library ockl.bc", "rocm-device-libs")
}

/// The program of a client, compiled once per process.
///
/// # Panics
///
/// When it does not compile without a warning.
pub fn program(name: &str) -> PathBuf {
    static BUILT: OnceLock<Mutex<HashMap<String, Arc<OnceLock<PathBuf>>>>> = OnceLock::new();
    let mut built = BUILT
        .get_or_init(Mutex::default)
        .lock()
        .expect("Nobody panics with this lock");
    let cell = Arc::clone(built.entry(name.to_owned()).or_default());
    drop(built);
    cell.get_or_init(|| compile(name)).clone()
}

fn compile(name: &str) -> PathBuf {
    let sources = repository().join("tests/clients/hsa");
    let program = scratch_dir("clients").join(name);
    let mut client = Client::new("gcc", "c", "c11");
    let libraries = format!("-L{}", libraries().display());
    let warnings = ["-Wall", "-Wextra", "-Werror"];
    // The libraries stand before the source, so the linker must not judge yet whether they are needed.
    let linking = [
        "-Wl,--no-as-needed",
        &libraries,
        "-lhsa-runtime64",
        "-pthread",
        "-lm",
    ];
    for option in ["-D_GNU_SOURCE", "-g", "-O1"]
        .iter()
        .chain(&warnings)
        .chain(&linking)
    {
        client = client.argument(option);
    }
    if NEWER.contains(&name) {
        client = client.include(&repository().join("capi/include"));
    }
    if name == "kernels" {
        client = client
            .include(&repository().join("tests/kernels"))
            .argument(&sources.join("cases.c").to_string_lossy())
            .argument(&format!("-Wl,{}", host_object().display()));
    }
    let source = sources.join(name).with_extension("c");
    if let Err(message) = client.compile(&source, &program) {
        panic!("{message}");
    }
    program
}

/// How the runtime gets its plugins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plugins {
    /// The ones that are linked into it.
    BuiltIn,
    /// The same ones from their shared objects, found through manifests, and no others.
    Loaded,
}

/// The machine that a client finds.
#[derive(Clone, Copy, Debug)]
pub struct Machine<'a> {
    /// Where the plugins come from.
    pub plugins: Plugins,
    /// The chip that the software GPU is.
    pub isa: &'a str,
    /// The number of such chips.
    pub devices: u32,
}

impl Machine<'_> {
    /// One gfx900.
    #[must_use]
    pub const fn gfx900(plugins: Plugins) -> Self {
        Self {
            plugins,
            isa: "gfx900",
            devices: 1,
        }
    }

    fn name(self) -> String {
        let plugins = match self.plugins {
            Plugins::BuiltIn => "built-in",
            Plugins::Loaded => "loaded",
        };
        format!("{plugins}-{}x{}", self.devices, self.isa)
    }

    /// Writes the runtime's configuration for this machine and gives its path.
    fn configuration(self) -> PathBuf {
        let dir = scratch_dir("machines");
        let file = dir.join(self.name()).with_extension("toml");
        let text = format!(
            "[plugins]\nbackends = [\"sim\"]\n\n[backend.\"{}\"]\ndevices = {}\nisa = \"{}\"\n",
            SimPlugin::FACTS.id,
            self.devices,
            self.isa
        );
        // Several tests write the same text at once; each puts a whole file in place.
        let own = dir.join(format!("{}.{:?}", self.name(), std::thread::current().id()));
        std::fs::write(&own, text).expect("The target directory can be written");
        std::fs::rename(&own, &file).expect("The target directory can be written");
        file
    }

    /// A command that runs a program on this machine.
    #[must_use]
    pub fn command(self, program: &Path) -> Command {
        self.command_for(program, LIMIT)
    }

    /// As [`Self::command`], for so many seconds at most.
    pub(crate) fn command_for(self, program: &Path, seconds: &str) -> Command {
        let mut command = Command::new("timeout");
        command.args(["--kill-after=10", seconds]).arg(program);
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            if ["HSA_", "HANSA_", "ROCR_"]
                .iter()
                .any(|prefix| text.starts_with(prefix))
            {
                command.env_remove(&name);
            }
        }
        command.env("LD_LIBRARY_PATH", libraries());
        command.env("HANSA_CONFIG", self.configuration());
        if self.plugins == Plugins::Loaded {
            command.env("HANSA_PLUGIN_FILES", manifests());
        }
        command
    }
}

/// Manifests for the loadable plugins, as a list for `HANSA_PLUGIN_FILES`.
fn manifests() -> &'static str {
    static LIST: OnceLock<String> = OnceLock::new();
    LIST.get_or_init(|| {
        let mut list = String::new();
        for (facts, library) in [
            (SimPlugin::FACTS, "libhansa_sim_plugin.so"),
            (AmdPlugin::FACTS, "libhansa_amd_plugin.so"),
            (ImagePlugin::FACTS, "libhansa_image_plugin.so"),
            (FinalizerPlugin::FACTS, "libhansa_finalizer_plugin.so"),
        ] {
            let library = libraries().join(library);
            assert!(library.is_file(), "{} was not built", library.display());
            let facts = Facts::of(&facts).expect("A plugin's version is a semantic one");
            let file = scratch_dir("plugins.d").join(facts.file_name());
            std::fs::write(&file, facts.to_toml(&library.to_string_lossy()))
                .expect("The target directory can be written");
            let separator = if list.is_empty() { "" } else { ":" };
            // Writing to a String cannot fail.
            let _ = write!(list, "{separator}{}", file.display());
        }
        list
    })
}

/// Runs a client and fails unless it says that it passed.
///
/// # Panics
///
/// When a check of the client failed, when it crashed, and when it did not say how it went.
pub fn run(machine: Machine<'_>, name: &str, arguments: &[&Path]) {
    judge(machine, name, machine.command(&program(name)).args(arguments));
}

/// Runs a command that [`Machine::command`] made, and fails unless it says that it passed.
///
/// # Panics
///
/// When a check of the program failed, when it crashed, and when it did not say how it went.
pub fn judge(machine: Machine<'_>, name: &str, command: &mut Command) {
    let output = command.output().expect("timeout is a part of every system");
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    let verdict = text.lines().last().and_then(verdict);
    if let Some((passed, failed)) = verdict {
        report(&format!(
            "{name} on {}: {passed} passed, {failed} failed",
            machine.name()
        ));
    }
    let good = output.status.success() && verdict.is_some_and(|(passed, failed)| passed > 0 && failed == 0);
    assert!(
        good,
        "{name} on {}: {}\n--- output\n{text}\n--- errors\n{errors}",
        machine.name(),
        output.status
    );
}

/// The numbers in a line `N passed, M failed`.
fn verdict(line: &str) -> Option<(u32, u32)> {
    let (passed, failed) = line.strip_suffix(" failed")?.split_once(" passed, ")?;
    Some((passed.parse().ok()?, failed.parse().ok()?))
}

/// Adds a line to the file that `tests/run` sums up, if there is one.
fn report(line: &str) {
    let Some(file) = std::env::var_os("HANSA_TEST_RESULTS") else {
        return;
    };
    let mut file = std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(file)
        .expect("The file of HANSA_TEST_RESULTS can be written");
    file.write_all(format!("{line}\n").as_bytes())
        .expect("The file of HANSA_TEST_RESULTS can be written");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_verdict_is_two_numbers() {
        assert_eq!(verdict("12 passed, 3 failed"), Some((12, 3)));
        for bad in [
            "",
            "12 passed",
            "x passed, 3 failed",
            "12 passed, 3 failed, 1 skipped",
        ] {
            assert_eq!(verdict(bad), None, "{bad}");
        }
    }
}
