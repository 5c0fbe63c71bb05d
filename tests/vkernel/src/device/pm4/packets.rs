//! Packets that need nothing but memory: what writes, copies, waits, raises events and names other packets.

use super::processor::Frame;
use crate::device::atomic::atomic;
use crate::device::sdma::compare;
use crate::device::{Executor, Fault, Memory};
use crate::kfd::device_clock;

/// Operations.
pub(super) mod op {
    pub(in crate::device::pm4) const NOP: u32 = 0x10;
    pub(in crate::device::pm4) const DISPATCH: u32 = 0x15;
    pub(in crate::device::pm4) const DISPATCH_INDIRECT: u32 = 0x16;
    pub(in crate::device::pm4) const ATOMIC: u32 = 0x1e;
    pub(in crate::device::pm4) const CONDITION: u32 = 0x22;
    pub(in crate::device::pm4) const WRITE: u32 = 0x37;
    pub(in crate::device::pm4) const WAIT: u32 = 0x3c;
    pub(in crate::device::pm4) const BUFFER: u32 = 0x3f;
    pub(in crate::device::pm4) const COPY: u32 = 0x40;
    pub(in crate::device::pm4) const EVENT: u32 = 0x46;
    pub(in crate::device::pm4) const RELEASE: u32 = 0x49;
    pub(in crate::device::pm4) const DMA: u32 = 0x50;
    pub(in crate::device::pm4) const ACQUIRE: u32 = 0x58;
    pub(in crate::device::pm4) const SET_REGISTERS: u32 = 0x76;
    pub(in crate::device::pm4) const WAIT_64: u32 = 0x93;
    pub(in crate::device::pm4) const SET_REGISTERS_INDEX: u32 = 0x9b;
}

/// Count of a packet that is its head alone.
const HEAD_ONLY: u32 = 0x3fff;
/// Destinations and sources: memory past the second cache, memory through it.
const MEMORY: u32 = 5;
const CACHED: u32 = 2;
/// Sources of a copy: memory, the packet itself, the device's clock.
const SOURCE_MEMORY: u32 = 1;
const SOURCE_PACKET: u32 = 5;
const SOURCE_CLOCK: u32 = 9;
/// Type of the event that waits for dispatches.
const PARTIAL_FLUSH: u32 = 7;
/// The bit of a buffer that takes the place of the one it is named in.
const CHAINED: u32 = 1 << 20;

/// The operation of a packet with a head.
pub(super) const fn opcode(head: u32) -> u32 {
    head >> 8 & 0xff
}

/// Words of a packet with a head.
pub(super) const fn length(head: u32) -> u32 {
    if head >> 30 == 2 || (opcode(head) == op::NOP && head >> 16 & 0x3fff == HEAD_ONLY) {
        return 1;
    }
    (head >> 16 & 0x3fff) + 2
}

/// Whether an event waits for dispatches.
pub(super) const fn is_flush(event: u32) -> bool {
    event & 0x3f == PARTIAL_FLUSH
}

/// How a packet went.
#[derive(Debug)]
pub(super) enum Went {
    /// It took so many words.
    Done(u32),
    /// It waits for memory to change.
    Waits,
    /// It is none that is run here.
    Unknown,
    /// It names a buffer of packets; whether that takes the place of the one it is in.
    Enter(Frame, bool),
}

/// What is written when everything before is done.
#[derive(Clone, Copy, Debug)]
pub(super) struct Release {
    to: u64,
    data: u64,
    /// What is written: nothing, half of the data, all of it, the clock.
    what: u32,
    /// The event that is raised.
    event: Option<u32>,
}

impl Release {
    /// Writes it and raises its event.
    pub(super) fn write(&self, memory: &Memory<'_>) -> Result<(), Fault> {
        match self.what {
            1 => memory.write(self.to, &self.data.to_le_bytes()[..4])?,
            2 => memory.store(self.to, self.data)?,
            3 => memory.store(self.to, device_clock())?,
            _ => {}
        }
        if let Some(event) = self.event {
            memory.kernel().raise(event);
        }
        Ok(())
    }
}

/// A packet, whose words are counted from its head.
pub(super) struct Packet<'a> {
    pub(super) memory: &'a Memory<'a>,
    pub(super) word: &'a dyn Fn(u32) -> Result<u32, Fault>,
}

impl Packet<'_> {
    fn word(&self, i: u32) -> Result<u32, Fault> {
        (self.word)(i)
    }

    fn pair(&self, i: u32) -> Result<u64, Fault> {
        Ok(u64::from(self.word(i)?) | u64::from(self.word(i + 1)?) << 32)
    }

    /// The address in two words.
    pub(super) fn address(&self, i: u32) -> Result<u64, Fault> {
        Ok(self.pair(i)? & 0xffff_ffff_fffc)
    }

    /// Runs it.
    pub(super) fn run(&self, executor: Option<&dyn Executor>) -> Result<Went, Fault> {
        let memory = self.memory;
        let head = self.word(0)?;
        match head >> 30 {
            2 => return Ok(Went::Done(1)),
            3 => {}
            _ => return Ok(Went::Unknown),
        }
        let length = length(head);
        match opcode(head) {
            op::NOP | op::EVENT => {}
            op::ACQUIRE => {
                // Data is coherent here; code that was decoded is not.
                if let Some(executor) = executor {
                    executor.invalidate(memory.gpu());
                }
            }
            op::WRITE if length > 4 => return self.write(length),
            op::WAIT => return self.wait(),
            op::WAIT_64 => return self.wait_wide(),
            op::BUFFER => {
                let size = self.word(3)?;
                let frame = Frame::new(self.address(1)?, size & 0xf_ffff);
                return Ok(Went::Enter(frame, size & CHAINED != 0));
            }
            op::CONDITION if length == 5 => {
                if memory.word(self.address(1)?)? == 0 {
                    return Ok(Went::Done(length + (self.word(4)? & 0x3fff)));
                }
            }
            op::COPY => return self.copy(length),
            op::DMA => return self.dma(length),
            op::ATOMIC => {
                let operation = self.word(1)? & 0x7f;
                if !atomic(memory, operation, self.address(2)?, self.pair(4)?, self.pair(6)?)? {
                    return Ok(Went::Unknown);
                }
            }
            _ => return Ok(Went::Unknown),
        }
        Ok(Went::Done(length))
    }

    fn write(&self, length: u32) -> Result<Went, Fault> {
        let control = self.word(1)?;
        if !matches!(control >> 8 & 0xf, MEMORY | CACHED) {
            return Ok(Went::Unknown);
        }
        let to = self.address(2)?;
        let step = if control >> 16 & 1 == 0 { 4 } else { 0 };
        for i in 4..length {
            let at = to + u64::from(i - 4) * step;
            self.memory.write(at, &self.word(i)?.to_le_bytes())?;
        }
        Ok(Went::Done(length))
    }

    /// Whether a packet that waits looks at memory, and does nothing but wait.
    const fn looks_at_memory(control: u32) -> bool {
        control >> 4 & 3 == 1 && matches!(control >> 6 & 3, 0 | 3)
    }

    fn wait(&self) -> Result<Went, Fault> {
        let control = self.word(1)?;
        if !Self::looks_at_memory(control) {
            return Ok(Went::Unknown);
        }
        let value = self.memory.word(self.address(2)?)? & self.word(5)?;
        if compare(control & 7, value.into(), self.word(4)?.into()) {
            Ok(Went::Done(length(self.word(0)?)))
        } else {
            Ok(Went::Waits)
        }
    }

    fn wait_wide(&self) -> Result<Went, Fault> {
        let control = self.word(1)?;
        if !Self::looks_at_memory(control) {
            return Ok(Went::Unknown);
        }
        let value = self.memory.word64(self.address(2)?)? & self.pair(6)?;
        if compare(control & 7, value, self.pair(4)?) {
            Ok(Went::Done(length(self.word(0)?)))
        } else {
            Ok(Went::Waits)
        }
    }

    fn copy(&self, length: u32) -> Result<Went, Fault> {
        let control = self.word(1)?;
        let value = match control & 0xf {
            SOURCE_MEMORY | CACHED => self.wide_or_not(control, self.address(2)?)?,
            SOURCE_PACKET => self.pair(2)?,
            SOURCE_CLOCK => device_clock(),
            _ => return Ok(Went::Unknown),
        };
        if !matches!(control >> 8 & 0xf, MEMORY | CACHED) {
            return Ok(Went::Unknown);
        }
        let bytes = if control >> 16 & 1 == 0 { 4 } else { 8 };
        self.memory
            .write(self.address(4)?, &value.to_le_bytes()[..bytes])?;
        Ok(Went::Done(length))
    }

    fn wide_or_not(&self, control: u32, at: u64) -> Result<u64, Fault> {
        if control >> 16 & 1 == 0 {
            self.memory.word(at).map(u64::from)
        } else {
            self.memory.word64(at)
        }
    }

    fn dma(&self, length: u32) -> Result<Went, Fault> {
        let (control, command) = (self.word(1)?, self.word(6)?);
        // Memory with and without the second cache; addresses that do not grow are of registers.
        if !matches!(control >> 20 & 3, 0 | 3) || command >> 26 != 0 {
            return Ok(Went::Unknown);
        }
        let (to, bytes) = (self.pair(4)?, u64::from(command & 0x3ff_ffff));
        match control >> 29 & 3 {
            0 | 3 => self.memory.copy(to, self.pair(2)?, bytes)?,
            2 => {
                let word = self.word(2)?.to_le_bytes();
                let data = word.repeat(usize::try_from(bytes.div_ceil(4)).unwrap_or(0));
                self.memory
                    .write(to, &data[..usize::try_from(bytes).unwrap_or(0)])?;
            }
            _ => return Ok(Went::Unknown),
        }
        Ok(Went::Done(length))
    }

    /// What a packet writes at the end of the pipe: 7 words before gfx9, then one more with the event. `None` for a form
    /// that is not known.
    pub(super) fn release(&self) -> Result<Option<Release>, Fault> {
        let length = length(self.word(0)?);
        let is_old = length == 7;
        if !is_old && length != 8 {
            return Ok(None);
        }
        let selection = self.word(2)?;
        let what = match selection >> 29 {
            known @ 0..=3 => known,
            // The other clock of old chips.
            4 if is_old => 3,
            _ => return Ok(None),
        };
        let event = self.word(if is_old { 5 } else { 7 })?;
        let event = match selection >> 24 & 7 {
            // Without one; with a wait for the write alone.
            0 | 3 => None,
            1 | 2 => Some(event),
            4 if !is_old => Some(event),
            _ => return Ok(None),
        };
        Ok(Some(Release {
            to: self.address(3)?,
            data: self.pair(5)?,
            what,
            event,
        }))
    }
}
