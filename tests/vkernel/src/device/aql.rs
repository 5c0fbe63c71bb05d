//! The packet processor of AQL queues (HSA specification 2.8, `amd_hsa_queue.h`, `amd_hsa_signal.h`).

use super::pm4::Processor;
use super::ring::Ran;
use super::{Bell, Dispatch, Executor, Fault, Job, Memory, Outcome, Step};
use crate::debug::Source;
use crate::kfd::device_clock;
use hansa_kfd::uapi::queue as uapi;
use std::sync::atomic::Ordering;

/// Bytes of a packet.
const PACKET: u64 = 64;
/// Most dispatches of a queue that are under way.
const MOST_JOBS: usize = 32;
/// Packets that are run before another queue has its turn.
const BATCH: u32 = 64;

/// Types of packets.
mod kind {
    pub(super) const VENDOR: u8 = 0;
    pub(super) const INVALID: u8 = 1;
    pub(super) const KERNEL: u8 = 2;
    pub(super) const BARRIER_AND: u8 = 3;
    pub(super) const BARRIER_OR: u8 = 5;
}

/// Formats of vendor packets.
mod vendor {
    pub(super) const PM4: u8 = 1;
    pub(super) const BARRIER_VALUE: u8 = 2;
}

/// Offsets in `amd_queue_t`.
mod descriptor {
    pub(super) const READ_INDEX: u64 = 128;
    pub(super) const SCRATCH_LANE_BYTES: u64 = 176;
    pub(super) const INACTIVE_SIGNAL: u64 = 192;
}

/// Offsets in `amd_signal_t`.
mod signal {
    pub(super) const VALUE: u64 = 8;
    pub(super) const MAILBOX: u64 = 16;
    pub(super) const EVENT: u64 = 24;
    pub(super) const START: u64 = 32;
    pub(super) const END: u64 = 40;
}

/// Codes of the inactive signal.
mod code {
    pub(super) const NEEDS_SCRATCH: i64 = 1;
    pub(super) const NO_CODE: i64 = 8;
    pub(super) const BAD_PACKET: i64 = 0x20;
    pub(super) const BAD_VENDOR_PACKET: i64 = 0x100;
}

/// Codes of the inactive signal, and the kernel's numbers of the same exceptions.
const EXCEPTIONS: [(i64, u32); 9] = [
    (2, 16),
    (4, 17),
    (8, 18),
    (0x20, 20),
    (0x40, 21),
    (0x100, 23),
    (0x2000_0000, 6),
    (0x4000_0000, 4),
    (0x8000_0000, 2),
];

/// A queue.
#[derive(Debug)]
pub(super) struct Queue {
    ring: u64,
    packets: u64,
    descriptor: u64,
    write_index: u64,
    read_index: u64,
    bell: Bell,
    rung: u64,
    /// The read index as the device has it.
    next: u64,
    /// Packets may be there without a new ring.
    pending: bool,
    /// Stopped until the host stores 0 to the inactive signal.
    needs_scratch: bool,
    stopped: bool,
    /// Dispatches that are under way; those without the barrier bit run beside each other.
    jobs: Vec<UnderWay>,
    /// Runs packets of the other format.
    processor: Processor,
}

#[derive(Debug)]
struct UnderWay {
    job: Box<dyn Job>,
    completion: u64,
    start: u64,
    /// It has private memory.
    private: bool,
    /// It never goes on.
    stands: bool,
}

impl Queue {
    pub(super) fn new(a: &uapi::CreateQueue, bell: Bell) -> Self {
        Self {
            ring: a.ring_base_address,
            packets: u64::from(a.ring_size) / PACKET,
            descriptor: a.read_pointer_address.wrapping_sub(descriptor::READ_INDEX),
            write_index: a.write_pointer_address,
            read_index: a.read_pointer_address,
            bell,
            rung: u64::MAX,
            next: 0,
            pending: false,
            needs_scratch: false,
            stopped: false,
            jobs: Vec::new(),
            processor: Processor::new(a.read_pointer_address, bell.number),
        }
    }

    pub(super) fn step(
        &mut self,
        memory: &Memory<'_>,
        executor: Option<&dyn Executor>,
    ) -> Result<Step, Fault> {
        if self.stopped || self.packets == 0 {
            return Ok(Step::Idle);
        }
        let busy = self.go_on(memory)?;
        let bell = self.bell.value();
        if bell != self.rung {
            self.rung = bell;
            self.pending = true;
        }
        if !self.pending {
            return Ok(busy);
        }
        if self.needs_scratch {
            let inactive = memory.word64(self.descriptor + descriptor::INACTIVE_SIGNAL)?;
            if memory.word64(inactive + signal::VALUE)? != 0 {
                return Ok(busy);
            }
            self.needs_scratch = false;
        }
        // A doorbell may go backwards when several producers ring: the write index says what there is.
        let write = memory.word64(self.write_index)?;
        let mut step = busy;
        for _ in 0..BATCH {
            if self.next >= write {
                self.pending = false;
                break;
            }
            if !self.packet(memory, executor)? {
                break;
            }
            step = Step::Did;
        }
        // What waits for waves that stand waits until the queue is destroyed.
        let stands = self.jobs.iter().any(|job| job.stands);
        if step == Step::Idle && self.pending && !stands {
            step = Step::Waits;
        }
        Ok(step)
    }

    /// Runs the next packet. Answers whether it is done.
    fn packet(&mut self, memory: &Memory<'_>, executor: Option<&dyn Executor>) -> Result<bool, Fault> {
        let at = self.ring + self.next % self.packets * PACKET;
        let mut packet = [0_u8; 64];
        memory.read(at, &mut packet)?;
        let start = device_clock();
        let mut began = false;
        if packet[0] != kind::INVALID && packet[1] & 1 != 0 && !self.jobs.is_empty() {
            return Ok(false);
        }
        match packet[0] {
            kind::INVALID => return Ok(false),
            kind::BARRIER_AND | kind::BARRIER_OR => {
                if !barrier(memory, &packet)? {
                    return Ok(false);
                }
            }
            kind::KERNEL => {
                let wanted = word(&packet, 24);
                if self.jobs.len() == MOST_JOBS {
                    return Ok(false);
                }
                if wanted > memory.word(self.descriptor + descriptor::SCRATCH_LANE_BYTES)? {
                    // Waves that use what there is have to end before it is changed for more.
                    if self.jobs.iter().any(|job| job.private) {
                        return Ok(false);
                    }
                    self.needs_scratch = true;
                    self.say(memory, code::NEEDS_SCRATCH)?;
                    return Ok(false);
                }
                let dispatch = Dispatch {
                    packet: &packet,
                    address: at,
                    index: self.next,
                    queue: self.descriptor,
                    doorbell: self.bell.number,
                };
                // A device that runs nothing says so; it does not pretend.
                let none = Err(Outcome::Stopped(code::NO_CODE));
                match executor.map_or(none, |executor| executor.dispatch(memory, &dispatch)) {
                    Ok(job) => self.jobs.push(UnderWay {
                        job,
                        completion: word64(&packet, 56),
                        start,
                        private: wanted != 0,
                        stands: false,
                    }),
                    Err(outcome) => return self.failed(memory, outcome),
                }
                began = true;
            }
            kind::VENDOR => match packet[2] {
                vendor::PM4 => {
                    if let Some(executor) = executor {
                        executor.invalidate(memory.gpu());
                    }
                    let base = u64::from(word(&packet, 8) & !3) | u64::from(word(&packet, 12) & 0xffff) << 32;
                    let place = (base, word(&packet, 16) & 0xf_ffff);
                    match self.processor.buffer(memory, executor, place)? {
                        Ran::Done(_) => {}
                        Ran::Waits => return Ok(false),
                        Ran::Unknown(head) => {
                            memory.kernel().complain(format!("PM4 packet {head:#010x}"));
                            return self.stop(memory, code::BAD_VENDOR_PACKET);
                        }
                    }
                }
                vendor::BARRIER_VALUE => {
                    if !barrier_value(memory, &packet)? {
                        return Ok(false);
                    }
                }
                other => {
                    memory
                        .kernel()
                        .complain(format!("vendor packet of format {other}"));
                    return self.stop(memory, code::BAD_VENDOR_PACKET);
                }
            },
            _ => return self.stop(memory, code::BAD_PACKET),
        }
        memory.write(at, &[kind::INVALID, 0])?;
        self.next += 1;
        memory.store(self.read_index, self.next)?;
        if !began {
            complete(memory, word64(&packet, 56), start)?;
        }
        Ok(true)
    }

    /// Goes on with the dispatches that are under way.
    fn go_on(&mut self, memory: &Memory<'_>) -> Result<Step, Fault> {
        let mut step = match self.processor.go_on(memory)? {
            Ok(step) => step,
            Err(code) => {
                self.stop(memory, code)?;
                return Ok(Step::Idle);
            }
        };
        let mut i = 0;
        while i < self.jobs.len() {
            let job = &mut self.jobs[i];
            let outcome = if job.stands {
                Outcome::Stands
            } else {
                step = Step::Did;
                job.job.step(memory)
            };
            match outcome {
                Outcome::Later => i += 1,
                Outcome::Stands => {
                    job.stands = true;
                    i += 1;
                }
                Outcome::Done => {
                    let done = self.jobs.remove(i);
                    complete(memory, done.completion, done.start)?;
                }
                outcome => {
                    self.failed(memory, outcome)?;
                    return Ok(step);
                }
            }
        }
        Ok(step)
    }

    /// What a dispatch that cannot go on does to its queue.
    fn failed(&mut self, memory: &Memory<'_>, outcome: Outcome) -> Result<bool, Fault> {
        match outcome {
            Outcome::Fault(fault) => Err(fault),
            Outcome::Stopped(code) => self.stop(memory, code),
            Outcome::Done | Outcome::Later | Outcome::Stands => Ok(true),
        }
    }

    fn stop(&mut self, memory: &Memory<'_>, code: i64) -> Result<bool, Fault> {
        self.stopped = true;
        if self.report(memory, code) {
            return Ok(false);
        }
        self.say(memory, code)?;
        Ok(false)
    }

    /// Reports an error as the kernel does it where a debugger or a run-time asked for that. Answers whether it did.
    fn report(&self, memory: &Memory<'_>, code: i64) -> bool {
        let known = EXCEPTIONS.iter().find(|(of, _)| *of == code);
        known.is_some_and(|(_, number)| memory.kernel().exception(Source::Ring(self.ring), *number))
    }

    /// Stores a code to the inactive signal.
    fn say(&self, memory: &Memory<'_>, code: i64) -> Result<(), Fault> {
        let inactive = memory.word64(self.descriptor + descriptor::INACTIVE_SIGNAL)?;
        if inactive == 0 {
            return Ok(());
        }
        memory.store_signed(inactive + signal::VALUE, code)?;
        raise(memory, inactive)
    }
}

/// Completes a packet that has a completion signal.
fn complete(memory: &Memory<'_>, completion: u64, start: u64) -> Result<(), Fault> {
    if completion == 0 {
        return Ok(());
    }
    memory.store(completion + signal::START, start)?;
    memory.store(completion + signal::END, device_clock().max(start + 1))?;
    memory.change(completion + signal::VALUE, |value| {
        value.fetch_sub(1, Ordering::AcqRel)
    })?;
    raise(memory, completion)
}

/// Tells the host that a signal changed, if it has a mailbox.
fn raise(memory: &Memory<'_>, handle: u64) -> Result<(), Fault> {
    let mailbox = memory.word64(handle + signal::MAILBOX)?;
    if mailbox != 0 {
        let event = memory.word(handle + signal::EVENT)?;
        memory.store(mailbox, u64::from(event))?;
        memory.kernel().raise(event);
    }
    Ok(())
}

/// Whether the signals that a barrier packet waits for are there.
fn barrier(memory: &Memory<'_>, packet: &[u8; 64]) -> Result<bool, Fault> {
    let mut some = false;
    let mut all = true;
    let mut any = false;
    for i in 0..5 {
        let handle = word64(packet, 8 + i * 8);
        if handle == 0 {
            continue;
        }
        some = true;
        let zero = memory.word64(handle + signal::VALUE)? == 0;
        all &= zero;
        any |= zero;
    }
    Ok(if packet[0] == kind::BARRIER_AND {
        all
    } else {
        any || !some
    })
}

/// Whether the value that a packet waits for is there: masked, compared as HSA numbers its conditions.
fn barrier_value(memory: &Memory<'_>, packet: &[u8; 64]) -> Result<bool, Fault> {
    let handle = word64(packet, 8);
    if handle == 0 {
        return Ok(true);
    }
    let signed = |value: u64| i64::from_ne_bytes(value.to_ne_bytes());
    let value = signed(memory.word64(handle + signal::VALUE)? & word64(packet, 24));
    let reference = signed(word64(packet, 16));
    Ok(match word(packet, 32) {
        0 => value == reference,
        1 => value != reference,
        2 => value < reference,
        _ => value >= reference,
    })
}

pub(super) fn word(packet: &[u8; 64], at: usize) -> u32 {
    let mut bytes = [0; 4];
    bytes.copy_from_slice(&packet[at..at + 4]);
    u32::from_le_bytes(bytes)
}

pub(super) fn word64(packet: &[u8; 64], at: usize) -> u64 {
    u64::from(word(packet, at)) | u64::from(word(packet, at + 4)) << 32
}
