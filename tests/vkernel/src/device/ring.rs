//! A ring of packets of several lengths: what queues of PM4 packets and of copy engines have in common.
//!
//! Indices count units (bytes or words) and only grow.

use super::{Bell, Fault, Memory, Step};
use hansa_kfd::uapi::queue as uapi;

/// Packets that are run before another queue has its turn.
const BATCH: u32 = 64;

/// How a packet went.
pub(super) enum Ran {
    /// It took so many words.
    Done(u32),
    /// It waits for memory to change.
    Waits,
    /// It, or one in a buffer that it names, is none that is run here; the head.
    Unknown(u32),
}

/// A ring and how far it was read.
#[derive(Debug)]
pub(super) struct Ring {
    /// First address.
    pub(super) base: u64,
    /// Units.
    pub(super) size: u64,
    /// Units of a word.
    unit: u64,
    write_index: u64,
    /// Where the host sees how far it was read.
    pub(super) read_index: u64,
    bell: Bell,
    rung: u64,
    next: u64,
    pending: bool,
    stopped: bool,
}

impl Ring {
    /// The ring of a queue, whose indices count so many units for a word.
    pub(super) fn new(a: &uapi::CreateQueue, bell: Bell, unit: u64) -> Self {
        Self {
            base: a.ring_base_address,
            size: u64::from(a.ring_size) / 4 * unit,
            unit,
            write_index: a.write_pointer_address,
            read_index: a.read_pointer_address,
            bell,
            rung: u64::MAX,
            next: 0,
            pending: false,
            stopped: false,
        }
    }

    /// Reads no more.
    pub(super) fn stop(&mut self) {
        self.stopped = true;
    }

    /// Runs packets: `run` is given the place of one in the ring, `seen` writes how far was read. `what` is what packets
    /// are that stop it.
    pub(super) fn step(
        &mut self,
        memory: &Memory<'_>,
        what: &str,
        mut run: impl FnMut(u64) -> Result<Ran, Fault>,
        seen: impl Fn(u64) -> Result<(), Fault>,
    ) -> Result<Step, Fault> {
        if self.stopped || self.size == 0 {
            return Ok(Step::Idle);
        }
        let bell = self.bell.value();
        if bell != self.rung {
            self.rung = bell;
            self.pending = true;
        }
        if !self.pending {
            return Ok(Step::Idle);
        }
        let write = memory.word64(self.write_index)?;
        let mut step = Step::Idle;
        for _ in 0..BATCH {
            if self.next >= write {
                self.pending = false;
                break;
            }
            let place = self.next % self.size;
            match run(place)? {
                Ran::Done(words) => {
                    self.next += u64::from(words) * self.unit;
                    seen(self.next)?;
                    step = Step::Did;
                }
                Ran::Waits => {
                    if step == Step::Idle {
                        step = Step::Waits;
                    }
                    break;
                }
                Ran::Unknown(head) => {
                    memory.kernel().complain(format!("{what} {head:#010x}"));
                    self.stopped = true;
                    break;
                }
            }
        }
        Ok(step)
    }
}
