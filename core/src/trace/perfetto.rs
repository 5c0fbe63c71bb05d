//! The trace for ui.perfetto.dev, in the JSON form that it shares with Chrome's tracing (the Trace Event Format): complete
//! events `X` with times in microseconds, and metadata `M` that names processes and threads.
//!
//! Threads of the program are threads of its process. Waits, copies and agents are processes of their own with numbers that
//! no process has, their rows threads. Each record is written over the end of the file together with a new end, so
//! that the file is a whole JSON text at any time.

use super::file::OwnFile;
use super::lanes::Lanes;
use super::{thread, Details, Place};
use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

const HEAD: &str = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
const TAIL: &str = "\n]}\n";

/// Numbers for what is no process: above Linux's largest process number, which is 2 to the power of 22.
const WAITS: u32 = 1 << 24;
const COPIES: u32 = WAITS + 1;
const AGENTS: u32 = WAITS + 2;
/// Rows that a queue may have.
const ROWS: u32 = 1000;

/// A file that Perfetto opens.
#[derive(Debug)]
pub(super) struct Perfetto {
    own: OwnFile,
    /// Where the tail begins.
    end: u64,
    /// Whether there is a record yet.
    some: bool,
    /// Processes and threads that have their names.
    named: HashSet<(u32, u32)>,
    lanes: HashMap<(u32, u64), Lanes>,
}

impl Perfetto {
    pub(super) fn new(path: &Path) -> io::Result<Self> {
        Self::of(OwnFile::new(path)?)
    }

    fn of(own: OwnFile) -> io::Result<Self> {
        own.file.write_all_at(format!("{HEAD}{TAIL}").as_bytes(), 0)?;
        Ok(Self {
            own,
            end: HEAD.len() as u64,
            some: false,
            named: HashSet::new(),
            lanes: HashMap::new(),
        })
    }

    pub(super) fn is_to(&self, path: &Path) -> bool {
        self.own.is_to(path)
    }

    /// Writes an event.
    pub(super) fn span(&mut self, place: Place<'_>, name: &str, details: Details<'_>, start: u64, end: u64) {
        match self.own.after_fork().map(|own| own.and_then(Self::of)) {
            Some(Ok(child)) => *self = child,
            Some(Err(_)) => return,
            None => {}
        }
        let end = end.max(start);
        let (process, row, category) = self.track(place, start, end);
        let mut record = String::new();
        // Writing to a String cannot fail.
        let _ = write!(
            record,
            "{{\"ph\":\"X\",\"pid\":{process},\"tid\":{row},\"ts\":{},\"dur\":{},\"cat\":\"{category}\",\"name\":{},\"args\":{{",
            microseconds(start),
            microseconds(end - start),
            json(name)
        );
        for (index, (key, value)) in details.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            let _ = write!(record, "{comma}{}:{}", json(key), json(value));
        }
        record.push_str("}}");
        self.write(&record);
    }

    /// The track of a place, named if it is new.
    fn track(&mut self, place: Place<'_>, start: u64, end: u64) -> (u32, u32, &'static str) {
        match place {
            Place::Call => {
                let (process, row) = (std::process::id(), thread());
                self.name(process, row, &program_name(), &thread_name());
                (process, row, "call")
            }
            Place::Wait => {
                let row = thread();
                self.name(WAITS, row, "signal waits", &thread_name());
                (WAITS, row, "wait")
            }
            Place::Copy => {
                let row = self.row(COPIES, 0, start, end);
                self.name(COPIES, row, "copies", &format!("copies {}", row + 1));
                (COPIES, row, "copy")
            }
            Place::Queue { agent, name, queue } => {
                let process = AGENTS.saturating_add(u32::try_from(agent).unwrap_or(0));
                let lane = self.row(process, queue, start, end);
                let row = u32::try_from(queue)
                    .unwrap_or(0)
                    .saturating_mul(ROWS)
                    .saturating_add(lane);
                let agent = format!("agent {agent}: {name}");
                self.name(process, row, &agent, &format!("queue {queue}, row {}", lane + 1));
                (process, row, "dispatch")
            }
        }
    }

    fn row(&mut self, process: u32, track: u64, start: u64, end: u64) -> u32 {
        let lane = self.lanes.entry((process, track)).or_default().take(start, end);
        u32::try_from(lane).unwrap_or(0).min(ROWS - 1)
    }

    fn name(&mut self, process: u32, row: u32, process_name: &str, row_name: &str) {
        if !self.named.insert((process, row)) {
            return;
        }
        for (what, name) in [("process_name", process_name), ("thread_name", row_name)] {
            self.write(&format!(
                "{{\"ph\":\"M\",\"pid\":{process},\"tid\":{row},\"name\":\"{what}\",\"args\":{{\"name\":{}}}}}",
                json(name)
            ));
        }
    }

    fn write(&mut self, record: &str) {
        let comma = if self.some { ",\n" } else { "" };
        let text = format!("{comma}{record}{TAIL}");
        // A full disk ends the trace, not the program: what was there stays whole.
        if self.own.file.write_all_at(text.as_bytes(), self.end).is_ok() {
            self.end += (text.len() - TAIL.len()) as u64;
            self.some = true;
        }
    }
}

fn microseconds(nanoseconds: u64) -> String {
    format!("{}.{:03}", nanoseconds / 1000, nanoseconds % 1000)
}

fn json(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn program_name() -> String {
    let name = std::env::current_exe().ok();
    let name = name.as_deref().and_then(Path::file_name);
    name.map_or_else(
        || "program".to_owned(),
        |name| name.to_string_lossy().into_owned(),
    )
}

fn thread_name() -> String {
    let path = format!("/proc/self/task/{}/comm", thread());
    std::fs::read_to_string(path).map_or_else(|_| "thread".to_owned(), |name| name.trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(path: &Path) -> Vec<serde_json::Value> {
        let text = std::fs::read_to_string(path).unwrap();
        let whole: serde_json::Value = serde_json::from_str(&text).unwrap();
        whole["traceEvents"].as_array().unwrap().clone()
    }

    #[test]
    fn the_file_is_whole_after_each_record() {
        let path = std::env::temp_dir().join(format!("hansa-perfetto-{}", std::process::id()));
        let mut trace = Perfetto::new(&path).unwrap();
        assert_eq!(events(&path).len(), 0);
        let details = [("text", "\"quoted\"\n\u{1}".to_owned())];
        trace.span(Place::Call, "f", &details, 1_234_567, 1_234_600);
        let one = events(&path);
        assert_eq!(one.len(), 3);
        assert_eq!(one[2]["args"]["text"], "\"quoted\"\n\u{1}");
        assert_eq!((&one[2]["ts"], &one[2]["dur"]), (&1234.567.into(), &0.033.into()));
        let queue = Place::Queue {
            agent: 1,
            name: "gfx900",
            queue: 3,
        };
        trace.span(queue, "k", &[], 0, 100);
        trace.span(queue, "k", &[], 50, 60);
        let all = events(&path);
        let rows: Vec<_> = all
            .iter()
            .filter(|e| e["cat"] == "dispatch")
            .map(|e| &e["tid"])
            .collect();
        assert_eq!(rows, [&3000, &3001]);
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn a_file_that_is_taken_stays_whole_and_the_other_gets_its_own() {
        let path = std::env::temp_dir().join(format!("hansa-perfetto-taken-{}", std::process::id()));
        let first = Perfetto::new(&path).unwrap();
        // The lock is that of an open file, so that a second one in the same process is as good as another process.
        let second = Perfetto::new(&path).unwrap();
        let beside = path.with_file_name(format!(
            "{}.{}",
            path.file_name().unwrap().to_string_lossy(),
            std::process::id()
        ));
        assert_eq!((events(&path).len(), events(&beside).len()), (0, 0));
        drop((first, second));
        std::fs::remove_file(&path).unwrap();
        std::fs::remove_file(&beside).unwrap();
    }
}
