//! Hardware contexts: a queue in the kernel, and a thread that does what the firmware does.
//!
//! Rules of `aie2_ctx.c`: numbers of commands start at 0 in each context; four commands are under way at most, and
//! whoever hands in a fifth waits; images are set once; a command that makes no progress is given up.

use crate::array::Array;
use crate::buffers::Buffers;
use crate::command::{self, Outcome};
use crate::memory::Memory;
use crate::spec::NpuSpec;
use hansa_plugin_api::sync::{Condvar, Mutex};
use hansa_plugin_api::sys::Errno;
use std::collections::VecDeque;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Most commands under way.
const MOST_COMMANDS: u64 = 4;

/// A command that was handed in.
#[derive(Debug)]
pub(crate) struct Command {
    /// The buffer with it.
    pub(crate) memory: Arc<Memory>,
    /// Buffers that it says it uses.
    pub(crate) uses: Vec<u32>,
}

#[derive(Debug, Default)]
struct Line {
    waiting: VecDeque<Command>,
    /// Commands that were handed in.
    given: u64,
    /// Commands that are over.
    done: u64,
    /// The context is being taken down.
    ends: bool,
}

/// What a context and its thread share.
#[derive(Debug)]
pub(crate) struct Shared {
    line: Mutex<Line>,
    changed: Condvar,
    /// Device addresses of the images, once they are set.
    images: Mutex<Option<Vec<u64>>>,
    /// No command ends while this is held, for tests.
    pub(crate) hold: Arc<Mutex<()>>,
}

/// A context.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) shared: Arc<Shared>,
    /// The timeline of its commands, or 0.
    pub(crate) timeline: u32,
    /// Where its slots are in the heap.
    pub(crate) slots: Vec<u64>,
    thread: Option<JoinHandle<()>>,
}

/// What a wait found.
pub(crate) enum Waited {
    /// It is over.
    Done,
    /// Time ran out.
    TimedOut,
    /// There is no such command.
    Never,
}

impl Context {
    /// Makes a context, with its thread.
    pub(crate) fn new(
        spec: &NpuSpec,
        columns: u32,
        timeline: u32,
        slots: Vec<u64>,
        buffers: &Arc<Mutex<Buffers>>,
        log: &Arc<Mutex<Vec<String>>>,
        hold: &Arc<Mutex<()>>,
    ) -> Self {
        let shared = Arc::new(Shared {
            line: Mutex::default(),
            changed: Condvar::new(),
            images: Mutex::new(None),
            hold: Arc::clone(hold),
        });
        let serves = Arc::clone(&shared);
        let (spec, buffers, log) = (spec.clone(), Arc::clone(buffers), Arc::clone(log));
        let thread = std::thread::spawn(move || serves.serve(&spec, columns, &buffers, &log));
        Self {
            shared,
            timeline,
            slots,
            thread: Some(thread),
        }
    }

    /// Ends the thread; what waits is not begun.
    pub(crate) fn end(&mut self) {
        self.shared.line.lock().ends = true;
        self.shared.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            // A model that panics has said why on its own.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn serve(&self, spec: &NpuSpec, columns: u32, buffers: &Mutex<Buffers>, log: &Mutex<Vec<String>>) {
        let mut array = Array::new(spec, columns);
        let mut loaded = None;
        loop {
            let command = {
                let mut line = self.line.lock();
                loop {
                    if line.ends {
                        return;
                    }
                    if let Some(command) = line.waiting.pop_front() {
                        break command;
                    }
                    self.changed.wait(&mut line);
                }
            };
            let images = self.images.lock().clone().unwrap_or_default();
            let outcome = command::run(&command, &images, &mut loaded, &mut array, buffers);
            if let Outcome::TimedOut { .. } = outcome {
                // As long as it takes to give up; a context that is taken down meanwhile does not wait for it.
                let until = Instant::now() + Duration::from_millis(spec.patience_ms);
                let mut line = self.line.lock();
                while !line.ends && !self.changed.wait_until(&mut line, until) {}
            }
            while self.hold.try_lock().is_none() {
                if self.line.lock().ends {
                    return;
                }
                std::thread::sleep(Duration::from_millis(1));
            }
            if let Some(reason) = command::finish(&command, &outcome, buffers) {
                log.lock().push(reason);
            }
            if !matches!(outcome, Outcome::Completed) {
                // The context starts anew: what was in the array is gone.
                array = Array::new(spec, columns);
                loaded = None;
            }
            self.line.lock().done += 1;
            self.changed.notify_all();
        }
    }

    /// Sets the images, once.
    pub(crate) fn set_images(&self, addresses: Vec<u64>) -> Result<(), Errno> {
        let mut images = self.images.lock();
        if images.is_some() {
            return Err(Errno::INVAL);
        }
        *images = Some(addresses);
        Ok(())
    }

    /// Hands a command in. Answers its number.
    pub(crate) fn give(&self, command: Command) -> u64 {
        let mut line = self.line.lock();
        while line.given - line.done >= MOST_COMMANDS && !line.ends {
            self.changed.wait(&mut line);
        }
        let number = line.given;
        line.given += 1;
        line.waiting.push_back(command);
        self.changed.notify_all();
        number
    }

    /// Waits for a command.
    pub(crate) fn wait(&self, number: u64, until: Option<Instant>) -> Waited {
        let mut line = self.line.lock();
        loop {
            if number >= line.given {
                return Waited::Never;
            }
            if line.done > number || line.ends {
                return Waited::Done;
            }
            match until {
                None => self.changed.wait(&mut line),
                Some(until) => {
                    if self.changed.wait_until(&mut line, until) && line.done <= number {
                        return Waited::TimedOut;
                    }
                }
            }
        }
    }
}
