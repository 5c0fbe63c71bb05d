//! A dispatch under way on a processor of which scalar instructions are known.

use super::code;
use super::running::Work;
use super::traps::Traps;
use crate::device::{Fault, Job, Memory, Outcome};
use hansa_sim::exec::{property, AddressSpace, MemoryReason};
use hansa_sim::scalar::{self, After, Cause, Exit, Generation, Wave};
use std::sync::Arc;

/// Instructions of a wave in a step.
const BUDGET: u32 = 10_000;
/// Waves that run beside each other.
const MOST: usize = 64;
/// Numbers of operands.
const TTMP: usize = 108;
const EXEC: usize = 126;

/// A dispatch under way.
#[derive(Debug)]
pub(super) struct Waves {
    generation: Generation,
    space: Arc<AddressSpace>,
    work: Work,
    /// The next wave to begin.
    next: u64,
    running: Vec<Wave>,
    /// Waves that stand still.
    standing: Vec<Wave>,
}

impl Waves {
    /// A dispatch that has not begun.
    pub(super) fn new(generation: Generation, space: Arc<AddressSpace>, work: Work) -> Self {
        Self {
            generation,
            space,
            work,
            next: 0,
            running: Vec::new(),
            standing: Vec::new(),
        }
    }

    fn lanes(&self) -> u32 {
        let short = self.work.descriptor.has(property::WAVEFRONT_SIZE32);
        let has_short = !matches!(self.generation, Generation::Gfx9 | Generation::Gfx940);
        if short && has_short {
            32
        } else {
            64
        }
    }

    fn begin(&mut self) {
        let work = &self.work;
        let lanes = self.lanes();
        let items: u32 = work.workgroup.iter().map(|&side| u32::from(side)).product();
        let waves = u64::from(items.div_ceil(lanes)).max(1);
        let shape: [u64; 3] =
            std::array::from_fn(|i| u64::from(work.grid[i].div_ceil(u32::from(work.workgroup[i]).max(1))));
        let all = shape.iter().product::<u64>() * waves;
        while self.running.len() < MOST && self.next < all {
            let (group, wave) = (self.next / waves, self.next % waves);
            let id = [
                group % shape[0],
                group / shape[0] % shape[1],
                group / shape[0] / shape[1],
            ];
            let id = id.map(|i| u32::try_from(i).unwrap_or(0));
            let wave = u32::try_from(wave).unwrap_or(0);
            self.running
                .push(self.start(id, wave, items.saturating_sub(wave * lanes).min(lanes)));
            self.next += 1;
        }
    }

    /// A wave with the registers that the kernel's descriptor asks for.
    fn start(&self, group: [u32; 3], number: u32, items: u32) -> Wave {
        let work = &self.work;
        let kernel = &work.descriptor;
        let mut wave = Wave::new(
            self.generation,
            work.kernel_object.wrapping_add_signed(kernel.entry_offset),
        );
        let mut at = 0;
        let mut put = |values: &[u32]| {
            for (to, value) in wave.s[at..TTMP].iter_mut().zip(values) {
                *to = *value;
            }
            at += values.len();
        };
        if let Some(data) = &work.user_data {
            put(&data[..kernel.user_sgprs().min(data.len())]);
        }
        if kernel.has(property::PRIVATE_SEGMENT_BUFFER) {
            put(&work.scratch.descriptor);
        }
        for (bit, value) in [
            (property::DISPATCH_PTR, work.packet),
            (property::QUEUE_PTR, work.queue),
            (property::KERNARG_SEGMENT_PTR, work.kernarg),
            (property::DISPATCH_ID, work.index),
            (property::FLAT_SCRATCH_INIT, work.scratch.base),
        ] {
            if kernel.has(bit) {
                put(&hansa_kfd::event::halves(value));
            }
        }
        if self.generation == Generation::Gfx12 {
            wave.s[TTMP + 7] = group[1] & 0xffff | group[2] << 16;
            wave.s[TTMP + 8] = number << 25;
            wave.s[TTMP + 9] = group[0];
        } else {
            wave.s[TTMP + 11] = number & 63;
            let mut at = kernel.user_sgprs();
            for (i, id) in group.into_iter().enumerate() {
                if kernel.rsrc2 >> (7 + i) & 1 != 0 {
                    wave.s[at] = id;
                    at += 1;
                }
            }
        }
        let exec = if items >= 64 { u64::MAX } else { (1 << items) - 1 };
        wave.s[EXEC..].copy_from_slice(&hansa_kfd::event::halves(exec));
        wave
    }

    /// Runs a wave. Answers whether it is over, or how the dispatch ends.
    fn go_on(&self, wave: &mut Wave, memory: &Memory<'_>, traps: &Traps<'_>) -> Result<Standing, Outcome> {
        let exit = scalar::run(wave, &self.space, traps, BUDGET);
        let (cause, outcome) = match exit {
            Exit::End => return Ok(Standing::Over),
            Exit::Budget | Exit::Returned => return Ok(Standing::Runs),
            Exit::Halted => return Ok(Standing::Stands),
            Exit::Unknown(word) => {
                memory.kernel().complain(format!(
                    "a kernel dispatch on GPU {}, whose instructions are not known: {word:#010x}",
                    memory.gpu()
                ));
                return Err(Outcome::Stopped(code::NO_CODE));
            }
            Exit::Trap(number) => (Cause::Trap(number), Outcome::Stopped(code::EXCEPTION)),
            Exit::Illegal(_) => (Cause::Illegal, Outcome::Stopped(code::ILLEGAL_INSTRUCTION)),
            Exit::NoCode => (Cause::Memory, fault(wave.pc, false)),
            Exit::Memory { address, reason, .. } => (
                scalar::cause_of_access(address, reason),
                fault(address, reason == MemoryReason::NotAllowed),
            ),
        };
        let Some(handler) = traps.handler else {
            return Err(outcome);
        };
        let after = scalar::enter(wave, cause, &handler, &self.space, traps);
        if let Outcome::Fault(fault) = outcome {
            traps.faulted(cause, fault);
        }
        traps.after(&after);
        match after {
            After::GoesOn => Ok(Standing::Runs),
            After::Stands => Ok(Standing::Stands),
            After::Lost(_) => Err(outcome),
        }
    }
}

/// How a wave is after a while.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Standing {
    Runs,
    Stands,
    Over,
}

const fn fault(address: u64, present: bool) -> Outcome {
    Outcome::Fault(Fault { address, present })
}

impl Job for Waves {
    fn step(&mut self, memory: &Memory<'_>) -> Outcome {
        let traps = Traps::new(memory, self.work.doorbell);
        self.begin();
        for mut wave in std::mem::take(&mut self.running) {
            match self.go_on(&mut wave, memory, &traps) {
                Ok(Standing::Runs) => self.running.push(wave),
                Ok(Standing::Stands) => self.standing.push(wave),
                Ok(Standing::Over) => {}
                Err(outcome) => return outcome,
            }
        }
        self.begin();
        traps.outcome(if !self.running.is_empty() {
            Outcome::Later
        } else if self.standing.is_empty() {
            Outcome::Done
        } else {
            Outcome::Stands
        })
    }
}
