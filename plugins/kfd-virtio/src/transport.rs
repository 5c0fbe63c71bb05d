//! Sending a message to the host and judging the answer.
//!
//! Guest and host share a block of 25 pages. It begins with the sequence number of the last message that was answered,
//! where answers begin, and two words for what goes wrong by itself; the rest is room for answers. A message says where
//! its answer goes and what number it has, and the guest writes the room that there is into the answer's head. The host
//! writes the answer, then the sequence number.
//!
//! The host works on the messages of a context one after another, so there is one at a time, and its answer has the room
//! to itself. The room is filled with a failure before, so that an answer that never came is not taken for an old one. A
//! message that was not answered in time may be answered any time later: then nothing is sent any more.

use crate::error::{Error, Result};
use crate::uapi::{ExecBuffer, EXEC_FENCE_OUT, EXEC_RING};
use crate::wire::{Answer, Message};
use hansa_kfd::ioctl::Node;
use hansa_kfd::range::pointer;
use hansa_plugin_api::sync::Mutex;
use hansa_plugin_api::sys::{Errno, File, MapAccess, System};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Bytes of the shared block.
pub const SHARED_BYTES: u64 = 25 * 4096;
/// How long the host may take.
const PATIENCE_MS: i32 = 60_000;
/// How long the sequence number may come after the fence.
const GRACE: Duration = Duration::from_secs(2);
/// What is in the room before the host writes its answer.
const UNANSWERED: i32 = -5;

/// Words of the shared block.
mod place {
    pub(super) const SEQUENCE: u64 = 0;
    pub(super) const ANSWERS: u64 = 4;
    pub(super) const ERROR: u64 = 8;
    pub(super) const FAULTS: u64 = 12;
    /// Bytes of all of them.
    pub(super) const HEAD: u64 = 16;
}

#[derive(Debug, Default)]
struct State {
    sequence: u32,
    lost: Option<String>,
}

/// The shared block, mapped.
#[derive(Debug)]
struct Shared {
    system: Arc<dyn System>,
    address: u64,
}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: the mapping is this object's; a refusal leaves it.
        let _ = unsafe { self.system.munmap(pointer(self.address), bytes()) };
    }
}

fn bytes() -> usize {
    usize::try_from(SHARED_BYTES).unwrap_or(0)
}

impl Shared {
    /// A word of the block.
    fn word(&self, at: u64) -> &AtomicU32 {
        let at = at.min(SHARED_BYTES - 4) & !3;
        // SAFETY: inside the mapping, which lives as long as this object, and aligned; both sides use whole words.
        unsafe { AtomicU32::from_ptr(pointer(self.address + at).cast()) }
    }
}

/// A connection to the host.
#[derive(Debug)]
pub struct Channel {
    system: Arc<dyn System>,
    shared: Shared,
    /// Where answers begin, and how many bytes of them there can be.
    answers: u64,
    room: usize,
    state: Mutex<State>,
}

impl Channel {
    /// A connection over the shared block, which is at an offset of the node's file.
    ///
    /// # Errors
    ///
    /// What mapping says; [`Error::Nonsense`] for a block that cannot be.
    pub fn new(system: &Arc<dyn System>, node: &Node, offset: u64) -> Result<Self> {
        let access = MapAccess {
            read: true,
            write: true,
            execute: false,
        };
        // SAFETY: a new mapping.
        let made = unsafe { system.mmap(std::ptr::null_mut(), bytes(), access, Some(node.file()), offset) };
        let made = made.map_err(|errno| hansa_kfd::error::Error::Map {
            what: "memory shared with the host",
            bytes: SHARED_BYTES,
            errno,
        })?;
        let shared = Shared {
            system: Arc::clone(system),
            address: made.expose_provenance() as u64,
        };
        let answers = u64::from(shared.word(place::ANSWERS).load(Ordering::Acquire));
        if answers < place::HEAD || !answers.is_multiple_of(8) || answers > SHARED_BYTES - 4096 {
            return Err(Error::Nonsense {
                request: "the shared memory",
                what: format!("answers at {answers:#x}"),
            });
        }
        Ok(Self {
            system: Arc::clone(system),
            room: usize::try_from(SHARED_BYTES - answers).unwrap_or(0),
            shared,
            answers,
            state: Mutex::default(),
        })
    }

    /// Most bytes of an answer.
    #[must_use]
    pub const fn room(&self) -> usize {
        self.room
    }

    /// Whether the host still answers, as far as is known.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        self.state.lock().lost.is_none()
    }

    /// Faults of devices that the host counted.
    #[must_use]
    pub fn faults(&self) -> u32 {
        self.shared.word(place::FAULTS).load(Ordering::Acquire)
    }

    /// Sends a message; answers what came, at least `bytes` of it, with a result of 0.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] for another result; [`Error::Nonsense`] for an answer that cannot be; [`Error::Lost`]; and what
    /// the guest's kernel says.
    pub fn send(&self, node: &Node, request: &'static str, message: Message, bytes: usize) -> Result<Answer> {
        let answer = self.send_any(node, request, message, bytes)?;
        match answer.result() {
            0 => Ok(answer),
            status => Err(Error::Refused { request, status }),
        }
    }

    /// As [`Self::send`], whatever the result is.
    ///
    /// # Errors
    ///
    /// As there, but for the result.
    pub fn send_any(
        &self,
        node: &Node,
        request: &'static str,
        message: Message,
        bytes: usize,
    ) -> Result<Answer> {
        let capacity = bytes.next_multiple_of(8);
        if capacity > self.room {
            return Err(Error::Argument(format!(
                "{request} has an answer of {bytes} bytes, and there is room for {}",
                self.room
            )));
        }
        let mut state = self.state.lock();
        if let Some(why) = &state.lost {
            return Err(Error::Lost(why.clone()));
        }
        state.sequence = state.sequence.wrapping_add(1);
        let sequence = state.sequence;
        let commands = message.seal(sequence, 0);
        self.prepare(capacity);
        let mut execute = ExecBuffer {
            flags: EXEC_RING | EXEC_FENCE_OUT,
            size: u32::try_from(commands.len()).unwrap_or(u32::MAX),
            command: commands.as_ptr().expose_provenance() as u64,
            fence_fd: -1,
            ..ExecBuffer::default()
        };
        // A submission that was refused was not seen by the host.
        node.ask(&mut execute)?;
        let waited = self.wait(execute.fence_fd).and_then(|()| self.settle(sequence));
        if let Err(why) = waited {
            let why = format!("{request}: {why}");
            state.lost = Some(why.clone());
            return Err(Error::Lost(why));
        }
        let answer = self.take(request, bytes, capacity)?;
        match self.shared.word(place::ERROR).load(Ordering::Acquire) {
            0 => Ok(answer),
            error => {
                let why = format!("error {error} of its own");
                state.lost = Some(why.clone());
                Err(Error::Lost(why))
            }
        }
    }

    /// Makes the room ready for an answer.
    fn prepare(&self, capacity: usize) {
        for at in (0..capacity as u64).step_by(4) {
            self.shared.word(self.answers + at).store(0, Ordering::Relaxed);
        }
        let length = u32::try_from(capacity).unwrap_or(0);
        self.shared.word(self.answers).store(length, Ordering::Relaxed);
        let failure = u32::from_ne_bytes(UNANSWERED.to_ne_bytes());
        self.shared
            .word(self.answers + 4)
            .store(failure, Ordering::Release);
    }

    /// Waits for a fence, which is closed.
    fn wait(&self, fence: i32) -> std::result::Result<(), String> {
        if fence < 0 {
            return Err(format!("the kernel gave the fence {fence}"));
        }
        let fence = File(fence);
        let outcome = loop {
            match self.system.poll(fence, PATIENCE_MS) {
                Ok(true) => break Ok(()),
                Ok(false) => break Err(format!("no answer within {} s", PATIENCE_MS / 1000)),
                Err(Errno::INTR) => {}
                Err(errno) => break Err(format!("the fence cannot be waited for: {errno}")),
            }
        };
        self.system.close(fence);
        outcome
    }

    /// Waits until the host says that it answered this message, which it does just before the fence.
    fn settle(&self, sequence: u32) -> std::result::Result<(), String> {
        let mut end = None;
        loop {
            let reached = self.shared.word(place::SEQUENCE).load(Ordering::Acquire);
            if reached == sequence {
                return Ok(());
            }
            // The distance of numbers that go around.
            if reached.wrapping_sub(sequence) < 1 << 31 {
                return Err(format!(
                    "message {reached} was answered, and {sequence} was the last"
                ));
            }
            let end = *end.get_or_insert_with(|| Instant::now() + GRACE);
            if Instant::now() > end {
                return Err(format!(
                    "message {sequence} ended without an answer, after {reached}"
                ));
            }
            std::thread::yield_now();
        }
    }

    /// Copies the answer, which the host could change meanwhile, and judges its length.
    fn take(&self, request: &'static str, bytes: usize, capacity: usize) -> Result<Answer> {
        let mut copy = Vec::with_capacity(capacity);
        for at in (0..capacity as u64).step_by(4) {
            let word = self.shared.word(self.answers + at).load(Ordering::Acquire);
            copy.extend(word.to_ne_bytes());
        }
        let answer = Answer(copy);
        let length = answer.word(0) as usize;
        // A refusal has nothing after its result.
        let needed = if answer.result() == 0 {
            bytes
        } else {
            crate::wire::VALUES
        };
        if length < needed || length > capacity {
            return Err(Error::Nonsense {
                request,
                what: format!("{length} bytes, where {needed} to {capacity} can be"),
            });
        }
        Ok(answer)
    }
}
