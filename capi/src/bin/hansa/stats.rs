//! `hansa run --stats`: what the kernels of a program did on the software GPU.
//!
//! The driver of each process of the program writes a file when it ends; this command gathers them.

use crate::arguments::RunOptions;
use crate::text;
use hansa_sim::stats::{Kernel, Report};
use std::fmt::Write as _;
use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus};

/// The driver's variable for the file.
const VARIABLE: &str = "HANSA_SIM_STATS";

/// Runs a program to its end and shows what its kernels did.
pub(crate) fn run(mut command: Command, options: &RunOptions) -> Result<ExitCode, String> {
    let directory = Scratch::new()?;
    command.env(VARIABLE, directory.0.join("%p.json"));
    let status = command
        .status()
        .map_err(|error| format!("cannot run {}: {error}", command.get_program().to_string_lossy()))?;
    let reports = directory.reports()?;
    if let Some(file) = &options.stats_json {
        let json = serde_json::to_string_pretty(&reports).map_err(|error| error.to_string())?;
        fs::write(file, json).map_err(|error| format!("{}: {error}", file.display()))?;
    }
    if options.stats {
        // The program's own output stays alone.
        eprint!("{}", table(&reports));
    }
    Ok(code(status))
}

/// How the program ended, as a shell says it.
fn code(status: ExitStatus) -> ExitCode {
    let code = status
        .code()
        .or_else(|| status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok())
        .map_or(ExitCode::FAILURE, ExitCode::from)
}

/// A directory that goes away with this value.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Result<Self, String> {
        let path = std::env::temp_dir().join(format!("hansa-stats-{}", std::process::id()));
        // Somebody else's directory of this name is not used.
        match fs::create_dir(&path) {
            Ok(()) => Ok(Self(path)),
            Err(error) => Err(format!("{}: {error}", path.display())),
        }
    }

    /// What the processes wrote.
    fn reports(&self) -> Result<Vec<Report>, String> {
        let read = |path: &Path| -> Result<Report, String> {
            let json = fs::read_to_string(path).map_err(|error| error.to_string())?;
            serde_json::from_str(&json).map_err(|error| error.to_string())
        };
        let mut files: Vec<PathBuf> = fs::read_dir(&self.0)
            .map_err(|error| format!("{}: {error}", self.0.display()))?
            .filter_map(|entry| entry.ok().map(|entry| entry.path()))
            .collect();
        files.sort();
        files
            .iter()
            .map(|file| read(file).map_err(|error| format!("{}: {error}", file.display())))
            .collect()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed is left to whoever cleans the directory of temporary files.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The reports as a table, a line for each kernel and one for what it was made of.
fn table(reports: &[Report]) -> String {
    let kernels: Vec<&Kernel> = reports.iter().flat_map(|report| &report.kernels).collect();
    if kernels.is_empty() {
        return "hansa: no kernel ran on the software GPU\n".to_owned();
    }
    let width = kernels
        .iter()
        .map(|kernel| kernel.name.len())
        .max()
        .unwrap_or(0)
        .clamp(6, 48);
    let mut out = String::new();
    let _ = writeln!(
        out,
        "{:width$} {:>10} {:>12} {:>16} {:>6} {:>12} {:>12} {:>12}",
        "kernel", "dispatches", "waves", "instructions", "lanes", "read", "written", "LDS"
    );
    for kernel in kernels {
        let name: String = kernel.name.chars().take(width).collect();
        let _ = writeln!(
            out,
            "{name:width$} {:>10} {:>12} {:>16} {:>6.1} {:>12} {:>12} {:>12}",
            kernel.dispatches,
            kernel.waves,
            kernel.instructions,
            kernel.lanes_active,
            text::bytes(kernel.device_bytes.read),
            text::bytes(kernel.device_bytes.written),
            text::bytes(kernel.group_bytes.read + kernel.group_bytes.written),
        );
        let mut families: Vec<(&String, &u64)> = kernel.families.iter().collect();
        families.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        let list: Vec<String> = families
            .iter()
            .map(|(name, count)| format!("{name} {count}"))
            .collect();
        let _ = writeln!(out, "  {}", list.join(", "));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_s_end_is_this_command_s() {
        assert_eq!(code(ExitStatus::from_raw(3 << 8)), ExitCode::from(3));
        assert_eq!(code(ExitStatus::from_raw(9)), ExitCode::from(137));
    }

    #[test]
    fn a_line_for_each_kernel_and_one_for_its_families() {
        let json = r#"[{"kernels":[{"name":"sum","isa":"gfx900","dispatches":2,"groups":4,"waves":8,
            "instructions":100,"families":{"VOP2":60,"SOPP":40},"lanes_active":63.5,
            "device_bytes":{"read":2048,"written":4},"group_bytes":{"read":1,"written":1},
            "hottest":[{"offset":0,"count":8,"lanes_active":64,"text":"s_endpgm"}]}]}]"#;
        let reports: Vec<Report> = serde_json::from_str(json).unwrap();
        let table = table(&reports);
        let lines: Vec<&str> = table.lines().collect();
        assert_eq!(lines.len(), 3);
        let words: Vec<&str> = lines[1].split_whitespace().collect();
        assert_eq!(
            words,
            ["sum", "2", "8", "100", "63.5", "2", "KiB", "4", "B", "2", "B"]
        );
        assert_eq!(lines[2].trim(), "VOP2 60, SOPP 40");
    }
}
