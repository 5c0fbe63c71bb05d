//! `hansa run --stats`: what the kernels of a program did on the software GPU.
//!
//! The driver of each process of the program writes its counters when it ends; this command gathers them.

use crate::arguments::RunOptions;
use crate::text;
use hansa_sim::stats::{Kernel, Report};
use rustix::fs::{memfd_create, MemfdFlags};
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{Read as _, Seek as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, ExitCode, ExitStatus};

/// The driver's variable for the file.
const VARIABLE: &str = "HANSA_SIM_STATS";

/// Runs a program to its end and shows what its kernels did.
pub(crate) fn run(mut command: Command, options: &RunOptions) -> Result<ExitCode, String> {
    let gathered = Gathered::new()?;
    command.env(VARIABLE, gathered.variable());
    let status = command
        .status()
        .map_err(|error| format!("cannot run {}: {error}", command.get_program().to_string_lossy()))?;
    let reports = gathered.reports()?;
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

/// A file without a name, which goes away with this process however it ends. The program's processes open it by the number
/// of this one.
struct Gathered(File);

impl Gathered {
    fn new() -> Result<Self, String> {
        memfd_create("hansa-stats", MemfdFlags::CLOEXEC)
            .map(|file| Self(file.into()))
            .map_err(|error| format!("a file for counters of kernels: {error}"))
    }

    /// The driver's variable for it: every process adds a document.
    fn variable(&self) -> String {
        format!("+/proc/{}/fd/{}", std::process::id(), self.0.as_raw_fd())
    }

    /// What the processes wrote.
    fn reports(&self) -> Result<Vec<Report>, String> {
        let wrong = |error: &dyn std::fmt::Display| format!("counters of kernels: {error}");
        let mut json = Vec::new();
        let mut file = &self.0;
        file.rewind().map_err(|error| wrong(&error))?;
        file.read_to_end(&mut json).map_err(|error| wrong(&error))?;
        serde_json::Deserializer::from_slice(&json)
            .into_iter()
            .map(|report| report.map_err(|error| wrong(&error)))
            .collect()
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
    use std::io::Write as _;

    #[test]
    fn each_process_adds_its_report() {
        let gathered = Gathered::new().unwrap();
        let variable = gathered.variable();
        let file = variable.strip_prefix('+').unwrap();
        for _ in 0..2 {
            let mut process = fs::OpenOptions::new().append(true).open(file).unwrap();
            process.write_all(br#"{"kernels":[]}"#).unwrap();
        }
        assert_eq!(gathered.reports().unwrap().len(), 2);
        let mut process = fs::OpenOptions::new().append(true).open(file).unwrap();
        process.write_all(b"{").unwrap();
        assert!(gathered
            .reports()
            .unwrap_err()
            .starts_with("counters of kernels: EOF"));
    }

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
