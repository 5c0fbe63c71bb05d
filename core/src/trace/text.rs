//! The trace as text: a line for each call, written at once, so that nothing is lost when the program crashes.

use super::file::OwnFile;
use super::{thread, Details};
use crate::clock;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::Path;

/// Lines to stderr, or to a file.
#[derive(Debug)]
pub(super) struct Text {
    file: Option<OwnFile>,
    /// The time that lines count from.
    zero: u64,
}

impl Text {
    pub(super) fn new(path: Option<&Path>) -> io::Result<Self> {
        Ok(Self {
            file: path.map(OwnFile::new).transpose()?,
            zero: clock::now(),
        })
    }

    pub(super) fn is_to(&self, path: Option<&Path>) -> bool {
        match (&self.file, path) {
            (Some(file), Some(path)) => file.is_to(path),
            (None, None) => true,
            _ => false,
        }
    }

    pub(super) fn call(&mut self, name: &str, arguments: Details<'_>, result: &str, start: u64, end: u64) {
        let line = line(
            start.saturating_sub(self.zero),
            end - start.min(end),
            thread(),
            name,
            arguments,
            result,
        );
        let Some(own) = &mut self.file else {
            // A closed stderr is the program's business.
            let _ = io::stderr().write_all(line.as_bytes());
            return;
        };
        match own.after_fork() {
            Some(Ok(child)) => *own = child,
            Some(Err(_)) => return,
            None => {}
        }
        // A full disk ends the trace, not the program.
        let _ = (&own.file).write_all(line.as_bytes());
    }
}

fn line(at: u64, took: u64, thread: u32, name: &str, arguments: Details<'_>, result: &str) -> String {
    let mut line = format!(
        "hsa {}.{:06} {thread} {name}(",
        at / clock::HZ,
        at % clock::HZ / 1000
    );
    for (index, (name, value)) in arguments.iter().enumerate() {
        let comma = if index == 0 { "" } else { ", " };
        // Writing to a String cannot fail.
        let _ = write!(line, "{comma}{name}={value}");
    }
    line.push(')');
    if !result.is_empty() {
        let _ = write!(line, " = {result}");
    }
    let _ = writeln!(line, " [{}.{:03} us]", took / 1000, took % 1000);
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_time_thread_arguments_result_and_microseconds() {
        let arguments = [("a", "1".to_owned()), ("b", "NULL".to_owned())];
        assert_eq!(
            line(1_000_002_500, 12_345, 77, "f", &arguments, "HSA_STATUS_SUCCESS"),
            "hsa 1.000002 77 f(a=1, b=NULL) = HSA_STATUS_SUCCESS [12.345 us]\n"
        );
        assert_eq!(line(0, 1, 77, "f", &[], ""), "hsa 0.000000 77 f() [0.001 us]\n");
    }
}
