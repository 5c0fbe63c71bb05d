//! Lines for a person who looks for a fault: on stderr as `[debug] level` and the switches for queues, memory and signals
//! say, and where a program wants them (`hsa_amd_enable_logging`).
//!
//! A line that nobody wants costs one relaxed load. The settings are those of the runtime that started last.

use crate::config::Settings;
use hansa_plugin_api::fork::Lock;
use hansa_plugin_api::LogSink;
use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};

/// What a line is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Topic {
    /// Queues: made, failed, gone (`HSA_QUEUE_DEBUG`).
    Queue = 1,
    /// Memory: allocated, locked, copied, freed, and left behind (`HSA_MEMORY_DEBUG`).
    Memory = 2,
    /// Signals: made, waited for, gone (`HSA_SIGNAL_DEBUG`).
    Signal = 4,
    /// What a function refused, and why (level 3 and up).
    Error = 8,
    /// What of the configuration does nothing (level 7).
    Detail = 16,
    /// Packets that the runtime sends to queues of its own; only programs ask for them.
    Packets = 32,
    /// Packets that the runtime sends to copy engines; only programs ask for them.
    Engines = 64,
}

/// The topics that somebody wants.
static WANTED: AtomicU32 = AtomicU32::new(0);
/// Those of them that are wanted on stderr.
static ON_STDERR: AtomicU32 = AtomicU32::new(0);
/// Where the program wants which topics.
static SINK: Lock<Option<(u32, LogSink)>> = Lock::new(None);

/// The topics of each bit of `hsa_amd_log_flag_t`, in their order: packets, packets for engines, information.
const OF_FLAGS: [u32; 3] = [
    Topic::Packets as u32,
    Topic::Engines as u32,
    Topic::Queue as u32 | Topic::Memory as u32 | Topic::Error as u32,
];

/// Levels of the log from which on topics are wanted without a switch of their own.
mod level {
    /// Errors.
    pub(super) const ERROR: u8 = 3;
    /// Warnings.
    pub(super) const WARNING: u8 = 4;
    /// What happens.
    pub(super) const INFO: u8 = 6;
    /// Everything.
    pub(super) const DEBUG: u8 = 7;
}

/// How loud the log is: the level, or warnings when only `HSA_ENABLE_DEBUG` says that somebody looks.
#[must_use]
pub fn loudness(settings: &Settings) -> u8 {
    let level = &settings.debug.level;
    if settings.hsa.enable_debug.value && !level.is_set() {
        level::WARNING
    } else {
        level.value.0
    }
}

/// Takes the settings.
pub(crate) fn configure(settings: &Settings) {
    let loudness = loudness(settings);
    let debug = &settings.debug;
    let wanted = [
        (Topic::Queue, debug.queue.value || loudness >= level::INFO),
        (Topic::Memory, debug.memory.value || loudness >= level::INFO),
        (Topic::Signal, debug.signal.value || loudness >= level::DEBUG),
        (Topic::Error, loudness >= level::ERROR),
        (Topic::Detail, loudness >= level::DEBUG),
    ];
    let bits = wanted
        .iter()
        .filter(|(_, on)| *on)
        .map(|(topic, _)| *topic as u32);
    let bits = bits.sum();
    ON_STDERR.store(bits, Ordering::Relaxed);
    // What the program wanted ended with the runtime it said that to.
    *SINK.lock() = None;
    WANTED.store(bits, Ordering::Relaxed);
}

/// Writes lines of these topics (bits of `hsa_amd_log_flag_t`) where the program wants them, in place of what it wanted before.
pub(crate) fn send_to(flags: u64, sink: LogSink) {
    let chosen = OF_FLAGS
        .iter()
        .enumerate()
        .filter(|(bit, _)| flags >> bit & 1 != 0);
    let topics = chosen.fold(0, |all, (_, topics)| all | topics);
    let mut current = SINK.lock();
    *current = (topics != 0).then_some((topics, sink));
    WANTED.store(ON_STDERR.load(Ordering::Relaxed) | topics, Ordering::Relaxed);
}

/// Writes no more where the program wanted it: the stream may be closed from now on.
pub(crate) fn send_nowhere() {
    *SINK.lock() = None;
    WANTED.store(ON_STDERR.load(Ordering::Relaxed), Ordering::Relaxed);
}

/// Whether lines about a topic are wanted.
#[inline]
#[must_use]
pub fn on(topic: Topic) -> bool {
    WANTED.load(Ordering::Relaxed) & topic as u32 != 0
}

/// Writes a line if it is wanted.
#[inline]
pub fn line(topic: Topic, text: fmt::Arguments<'_>) {
    if on(topic) {
        write(topic, text);
    }
}

#[cold]
fn write(topic: Topic, text: fmt::Arguments<'_>) {
    if ON_STDERR.load(Ordering::Relaxed) & topic as u32 != 0 {
        eprintln!("hansa: {text}");
    }
    let sink = *SINK.lock();
    if let Some((_, sink)) = sink.filter(|(topics, _)| topics & topic as u32 != 0) {
        let line = format!("hansa: {text}\n");
        // SAFETY: the program said that lines may be written there, until it says otherwise or the runtime ends.
        unsafe { (sink.function)(sink.argument, line.as_ptr(), line.len()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Level, Origin, Setting};

    #[test]
    fn debugging_alone_shows_warnings_and_a_level_wins_over_it() {
        let mut settings = Settings::default();
        assert_eq!(loudness(&settings), 0);
        settings.hsa.enable_debug.value = true;
        assert_eq!(loudness(&settings), 4);
        settings.debug.level = Setting {
            value: Level(0),
            origin: Origin::Variable("HSA_DEBUG_LEVEL".into()),
        };
        assert_eq!(loudness(&settings), 0);
    }
}
