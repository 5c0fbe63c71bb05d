//! The built-in trace (`HSA_TRACE`): what the program calls and what comes of it, as text or for ui.perfetto.dev.
//!
//! Calls are reported by the C interface, whose tables hold reporting functions while there is a trace. Copies, waits and
//! dispatches are reported by core, which asks [`on`] first: one relaxed load. To see dispatches, queues pass through a
//! handler as those of profilers do ([`dispatches`]).
//!
//! A trace is never closed: the file is whole after each record, so that a program may end in any way.

pub mod dispatches;
mod file;
mod lanes;
mod perfetto;
mod text;

pub use dispatches::Dispatches;

use crate::clock;
use crate::config::{ApiTrace, Setting};
use hansa_plugin_api::fork::Lock;
use perfetto::Perfetto;
use std::sync::atomic::{AtomicBool, Ordering};
use text::Text;

/// Whether more than calls is wanted.
static ON: AtomicBool = AtomicBool::new(false);
static SINK: Lock<Option<Sink>> = Lock::new(None);

#[derive(Debug)]
enum Sink {
    Text(Text),
    Perfetto(Perfetto),
}

/// Where something happens: what becomes a track.
#[derive(Clone, Copy, Debug)]
pub enum Place<'a> {
    /// The calling thread calls a function.
    Call,
    /// The calling thread waits.
    Wait,
    /// A copy.
    Copy,
    /// A queue of an agent runs a kernel.
    Queue {
        /// Index of the agent.
        agent: usize,
        /// The agent's name.
        name: &'a str,
        /// Number of the queue.
        queue: u64,
    },
}

/// What is known of an event beside its name and times.
pub type Details<'a> = &'a [(&'a str, String)];

/// Whether dispatches, copies and waits are traced.
#[inline]
#[must_use]
pub fn on() -> bool {
    ON.load(Ordering::Relaxed)
}

/// Begins the trace that is configured, or goes on with it in a later life of the runtime. Answers whether calls are to be
/// reported.
pub fn begin(setting: &Setting<ApiTrace>) -> bool {
    let traced = prepare(setting);
    crate::signal::review();
    traced
}

fn prepare(setting: &Setting<ApiTrace>) -> bool {
    let mut sink = SINK.lock();
    let made = match (&setting.value, &*sink) {
        (ApiTrace::Off, _) => {
            ON.store(false, Ordering::Relaxed);
            return false;
        }
        (ApiTrace::Text(path), Some(Sink::Text(text))) if text.is_to(path.as_deref()) => Ok(()),
        (ApiTrace::Perfetto(path), Some(Sink::Perfetto(trace))) if trace.is_to(path) => Ok(()),
        (ApiTrace::Text(path), _) => Text::new(path.as_deref()).map(|text| *sink = Some(Sink::Text(text))),
        (ApiTrace::Perfetto(path), _) => Perfetto::new(path).map(|trace| *sink = Some(Sink::Perfetto(trace))),
    };
    if let Err(error) = made {
        let origin = &setting.origin;
        eprintln!(
            "hansa: {origin}: {}: {error}; nothing is traced",
            setting.value_shown()
        );
        *sink = None;
    }
    ON.store(matches!(*sink, Some(Sink::Perfetto(_))), Ordering::Relaxed);
    sink.is_some()
}

/// Reports a call of the calling thread that has just ended; `result` is empty where there is none.
pub fn call(name: &str, arguments: Details<'_>, result: &str, start: u64) {
    let end = clock::now();
    match &mut *SINK.lock() {
        Some(Sink::Text(text)) => text.call(name, arguments, result, start, end),
        Some(Sink::Perfetto(trace)) => {
            let mut details = arguments.to_vec();
            if !result.is_empty() {
                details.push(("result", result.to_owned()));
            }
            trace.span(Place::Call, name, &details, start, end);
        }
        None => {}
    }
}

/// Reports something that took time.
pub fn span(place: Place<'_>, name: &str, details: Details<'_>, start: u64, end: u64) {
    if let Some(Sink::Perfetto(trace)) = &mut *SINK.lock() {
        trace.span(place, name, details, start, end);
    }
}

/// The calling thread, by the kernel's number.
fn thread() -> u32 {
    rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs()
}
