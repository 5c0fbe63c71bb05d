//! A processor of PM4 packets: what it started, and the buffers of packets that it is in.
//!
//! Dispatches run beside each other and beside the packets that follow. What is released at the end of the pipe is
//! written when all dispatches before it are done, and not before the host can see that its packet was read; a partial
//! flush waits for the dispatches.

use super::packets::{self, Release, Went};
use super::registers::Registers;
use crate::device::ring::Ran;
use crate::device::{Executor, Fault, Job, Memory, Outcome, Step};
use std::collections::VecDeque;

/// Most buffers inside each other.
const MOST_FRAMES: usize = 8;
/// Most words of packets that another packet names.
const MOST_WORDS: u32 = 1 << 20;
/// Packets of buffers that are run before another queue has its turn.
const BATCH: u32 = 256;

/// A buffer of packets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    /// First address.
    pub(super) base: u64,
    /// Words.
    pub(super) words: u32,
    /// How many were read.
    pub(super) at: u32,
}

impl Frame {
    /// A buffer from its beginning.
    pub(super) fn new(base: u64, words: u32) -> Self {
        Self {
            base,
            words: words.min(MOST_WORDS),
            at: 0,
        }
    }
}

/// What has begun and is not over, in order.
#[derive(Debug)]
enum Started {
    Job(Box<dyn Job>),
    /// A job whose waves stand still.
    Standing,
    Release(Release),
}

/// A processor.
#[derive(Debug)]
pub(in crate::device) struct Processor {
    registers: Registers,
    frames: Vec<Frame>,
    /// In the buffer of a packet of another kind.
    is_inside: bool,
    started: VecDeque<Started>,
    /// Number of its queue among those that have private memory.
    queue: u64,
    /// Number of the queue's doorbell.
    doorbell: u32,
}

impl Processor {
    pub(in crate::device) fn new(queue: u64, doorbell: u32) -> Self {
        Self {
            registers: Registers::default(),
            frames: Vec::new(),
            is_inside: false,
            started: VecDeque::new(),
            queue,
            doorbell,
        }
    }

    /// Goes on with what was started. The inner error is the code that a dispatch stopped with.
    pub(in crate::device) fn go_on(&mut self, memory: &Memory<'_>) -> Result<Result<Step, i64>, Fault> {
        let mut step = Step::Idle;
        let mut i = 0;
        while i < self.started.len() {
            match &mut self.started[i] {
                Started::Standing => {
                    i += 1;
                    continue;
                }
                Started::Job(job) => match job.step(memory) {
                    Outcome::Later => i += 1,
                    // Its waves are of no use any more, but it is not over.
                    Outcome::Stands => self.started[i] = Started::Standing,
                    Outcome::Done => drop(self.started.remove(i)),
                    Outcome::Stopped(code) => return Ok(Err(code)),
                    Outcome::Fault(fault) => return Err(fault),
                },
                Started::Release(release) if i == 0 => {
                    release.write(memory)?;
                    self.started.pop_front();
                }
                Started::Release(_) => {
                    i += 1;
                    if matches!(self.started[0], Started::Standing) {
                        continue;
                    }
                }
            }
            step = Step::Did;
        }
        Ok(Ok(step))
    }

    /// Runs a buffer of packets that a packet of another kind names, to the end of what it starts; call it again while it
    /// waits.
    pub(in crate::device) fn buffer(
        &mut self,
        memory: &Memory<'_>,
        executor: Option<&dyn Executor>,
        place: (u64, u32),
    ) -> Result<Ran, Fault> {
        if !self.is_inside {
            self.frames.push(Frame::new(place.0, place.1));
            self.is_inside = true;
        }
        let ran = self.frames(memory, executor, 0)?;
        if matches!(ran, Ran::Done(_)) && !self.started.is_empty() {
            return Ok(Ran::Waits);
        }
        self.is_inside = matches!(ran, Ran::Waits);
        Ok(ran)
    }

    /// Runs a packet, whose words are counted from its head; call it again while it waits.
    pub(super) fn packet(
        &mut self,
        memory: &Memory<'_>,
        executor: Option<&dyn Executor>,
        word: &dyn Fn(u32) -> Result<u32, Fault>,
    ) -> Result<Ran, Fault> {
        let head = word(0)?;
        if !self.frames.is_empty() {
            // In the buffers that this packet names.
            return self.frames(memory, executor, packets::length(head));
        }
        match self.one(memory, executor, word)? {
            Went::Done(length) => Ok(Ran::Done(length)),
            Went::Waits => Ok(Ran::Waits),
            Went::Unknown => Ok(Ran::Unknown(head)),
            Went::Enter(frame, _) => {
                self.frames.push(frame);
                self.frames(memory, executor, packets::length(head))
            }
        }
    }

    /// Runs the packets of buffers. `length` is that of the packet that began it.
    fn frames(
        &mut self,
        memory: &Memory<'_>,
        executor: Option<&dyn Executor>,
        length: u32,
    ) -> Result<Ran, Fault> {
        for _ in 0..BATCH {
            let Some(&frame) = self.frames.last() else {
                return Ok(Ran::Done(length));
            };
            if frame.at >= frame.words {
                self.frames.pop();
                continue;
            }
            let at = frame.base + u64::from(frame.at) * 4;
            let word = |i: u32| memory.word(at + u64::from(i) * 4);
            let went = self.one(memory, executor, &word)?;
            let head = word(0)?;
            let past = match went {
                Went::Done(words) => words,
                Went::Waits => return Ok(Ran::Waits),
                Went::Enter(_, chained) if !chained && self.frames.len() == MOST_FRAMES => {
                    return Ok(Ran::Unknown(head))
                }
                Went::Enter(..) => packets::length(head),
                Went::Unknown => return Ok(Ran::Unknown(head)),
            };
            if let Some(frame) = self.frames.last_mut() {
                frame.at = frame.at.saturating_add(past);
            }
            if let Went::Enter(frame, chained) = went {
                if chained {
                    self.frames.pop();
                }
                self.frames.push(frame);
            }
        }
        // Another queue has its turn.
        Ok(Ran::Waits)
    }

    fn one(
        &mut self,
        memory: &Memory<'_>,
        executor: Option<&dyn Executor>,
        word: &dyn Fn(u32) -> Result<u32, Fault>,
    ) -> Result<Went, Fault> {
        let packet = packets::Packet { memory, word };
        let head = word(0)?;
        if head >> 30 != 3 {
            return packet.run(executor);
        }
        match packets::opcode(head) {
            packets::op::SET_REGISTERS | packets::op::SET_REGISTERS_INDEX => {
                let first = word(1)? & 0xffff;
                for i in 2..packets::length(head) {
                    if !self.registers.set(first + i - 2, word(i)?) {
                        return Ok(Went::Unknown);
                    }
                }
                Ok(Went::Done(packets::length(head)))
            }
            packets::op::DISPATCH => {
                let dimensions = [word(1)?, word(2)?, word(3)?];
                self.dispatch(memory, executor, dimensions, word(4)?, head)
            }
            packets::op::DISPATCH_INDIRECT if packets::length(head) == 4 => {
                let at = packet.address(1)?;
                let dimensions = [memory.word(at)?, memory.word(at + 4)?, memory.word(at + 8)?];
                self.dispatch(memory, executor, dimensions, word(3)?, head)
            }
            packets::op::EVENT if packets::is_flush(word(1)?) => {
                let busy =
                    (self.started.iter()).any(|one| matches!(one, Started::Job(_) | Started::Standing));
                Ok(if busy {
                    Went::Waits
                } else {
                    Went::Done(packets::length(head))
                })
            }
            packets::op::RELEASE => match packet.release()? {
                None => Ok(Went::Unknown),
                Some(release) => {
                    self.started.push_back(Started::Release(release));
                    Ok(Went::Done(packets::length(head)))
                }
            },
            _ => packet.run(executor),
        }
    }

    fn dispatch(
        &mut self,
        memory: &Memory<'_>,
        executor: Option<&dyn Executor>,
        dimensions: [u32; 3],
        initiator: u32,
        head: u32,
    ) -> Result<Went, Fault> {
        let Some(compute) = self
            .registers
            .compute(dimensions, initiator, (self.queue, self.doorbell))
        else {
            return Ok(Went::Unknown);
        };
        let Some(executor) = executor else {
            // A device that runs nothing says so; it does not pretend.
            return Ok(Went::Unknown);
        };
        match executor.compute(memory, &compute) {
            Ok(job) => self.started.push_back(Started::Job(job)),
            Err(Outcome::Fault(fault)) => return Err(fault),
            Err(Outcome::Stopped(_)) => return Ok(Went::Unknown),
            Err(Outcome::Done | Outcome::Later | Outcome::Stands) => {}
        }
        Ok(Went::Done(packets::length(head)))
    }
}
