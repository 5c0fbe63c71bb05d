//! The same programs on four runtimes: AMD's from Debian and Hansa, both with the same virtual kernel below, Hansa in a
//! virtual machine whose host has that kernel, and Hansa with the software GPU by itself.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use crate::artifacts::{libraries, scratch_dir};
use crate::c_client::present;
use crate::hsa_client::{ready, Machine, Plugins};

/// AMD's runtime, where Debian installs it.
const AMDS: &str = "/usr/lib/x86_64-linux-gnu/libhsa-runtime64.so.1";

/// Seconds that a program may take on AMD's runtime, and how often it is begun.
///
/// AMD's 5.2.3 sleeps for ever once in many thousand queues. The thread that destroys a queue stores to the queue's signal,
/// sleeps on the event that all queues share, which resets itself, and may take what it raised itself; then the thread of
/// handlers, who looked at the signal just before, sleeps on the same event, and neither raises it again. Ages of events, which
/// 5.2.3 does not know, are Linux's answer to that (`event_age` of `kfd_ioctl.h`).
const AMDS_LIMIT: (&str, usize) = ("200", 3);
/// How `timeout` ends when it ended the program.
const TIMED_OUT: i32 = 124;

/// A runtime with what is below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// AMD's on the virtual kernel.
    Amd,
    /// Hansa on the virtual kernel.
    Kfd,
    /// Hansa in a virtual machine on the virtual kernel.
    Guest,
    /// Hansa with the software GPU.
    Sim,
}

/// Whether clients can run on AMD's runtime and on Hansa here.
///
/// # Panics
///
/// When something for that is missing in CI.
#[must_use]
pub fn is_comparable() -> bool {
    ready() && present(Path::new(AMDS).exists(), AMDS, "libhsa-runtime64-1")
}

/// Writes the manifest of the backend in a virtual machine and gives its directory.
fn guest_manifest() -> &'static Path {
    static DIR: OnceLock<PathBuf> = OnceLock::new();
    DIR.get_or_init(|| {
        let dir = scratch_dir("guest");
        let text = format!(
            "format = 1\nid = \"org.hansa.guest\"\nkind = \"driver\"\nversion = \"{}\"\nlibrary = {:?}\n\
             target = \"{}\"\ninterface = \"{}.{}\"\n[claims]\nalways = true\n",
            env!("CARGO_PKG_VERSION"),
            libraries().join("libhansa_vkernel_guest.so"),
            hansa_plugin_api::manifest::TARGET,
            hansa_plugin_api::INTERFACE.major,
            hansa_plugin_api::INTERFACE.minor,
        );
        // Several tests write the same text at once; each puts a whole file in place.
        let own = dir.join(format!("{}.part", std::process::id()));
        std::fs::write(&own, text).expect("The target directory can be written");
        std::fs::rename(&own, dir.join("50-org.hansa.guest.toml"))
            .expect("The target directory can be written");
        dir
    })
}

impl Side {
    /// A command that runs a program on a machine with one GPU of a processor.
    ///
    /// # Panics
    ///
    /// When the libraries do not build.
    #[must_use]
    pub fn command(self, isa: &str, program: &Path) -> Command {
        let machine = Machine {
            plugins: Plugins::BuiltIn,
            isa,
            devices: 1,
        };
        let mut command = match self {
            Self::Amd => machine.command_for(program, AMDS_LIMIT.0),
            _ => machine.command(program),
        };
        if self == Self::Sim {
            return command;
        }
        command.env_remove("HANSA_CONFIG").env("VKERNEL_MACHINE", isa);
        if self == Self::Guest {
            command
                .env("HANSA_PLUGIN_ADD", guest_manifest())
                .env("HANSA_BACKENDS", "org.hansa.guest");
            return command;
        }
        command
            .env("LD_PRELOAD", libraries().join("libhansa_vkernel_preload.so"))
            .env("VKERNEL_DIR", scratch_dir("vkernel"));
        if self == Self::Amd {
            command.env_remove("LD_LIBRARY_PATH");
        } else {
            command.env("HANSA_BACKENDS", "kfd");
        }
        command
    }

    /// How a command ends that [`Self::command`] made.
    ///
    /// # Panics
    ///
    /// When `timeout` does not start.
    #[must_use]
    pub fn run(self, command: &mut Command) -> Output {
        let mut run = || command.output().expect("timeout is a part of every system");
        let mut output = run();
        let tries = if self == Self::Amd { AMDS_LIMIT.1 } else { 1 };
        for _ in 1..tries {
            if output.status.code() != Some(TIMED_OUT) {
                break;
            }
            output = run();
        }
        output
    }

    /// The output of a program that has to end well on such a machine.
    ///
    /// # Panics
    ///
    /// When it does not, and when the libraries do not build.
    pub fn output(self, isa: &str, program: &Path, arguments: &[&Path]) -> String {
        let output = self.run(self.command(isa, program).args(arguments));
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            output.status.success(),
            "{} on {self:?} with {isa}: {}\n{text}\n{}",
            program.display(),
            output.status,
            String::from_utf8_lossy(&output.stderr)
        );
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_amds_runtime_may_hang_and_is_begun_again() {
        let file = scratch_dir("side").join("begun");
        for (side, code) in [(Side::Amd, 0), (Side::Kfd, TIMED_OUT), (Side::Sim, TIMED_OUT)] {
            let _ = std::fs::remove_file(&file);
            let mut command = Command::new("sh");
            command
                .args(["-c", "test -e \"$0\" || { : > \"$0\"; exit 124; }"])
                .arg(&file);
            assert_eq!(side.run(&mut command).status.code(), Some(code), "{side:?}");
        }
    }
}
