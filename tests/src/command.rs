//! The `hansa` command as tests run it.

use crate::artifacts::{libraries, scratch_dir};
use std::process::{Command, Output};

/// The command, without what the caller's environment says to it, and with a home of the test's own.
///
/// # Panics
///
/// When the libraries do not build.
#[must_use]
pub fn hansa(home: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(libraries().join("hansa"));
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if ["HANSA_", "HSA_", "ROCR_", "LD_", "XDG_", "AMD_COMGR_"]
            .iter()
            .any(|prefix| text.starts_with(prefix))
        {
            command.env_remove(&name);
        }
    }
    command.env("HOME", scratch_dir(home)).args(arguments);
    command
}

/// What a program wrote, its errors last.
#[must_use]
pub fn text(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}
