//! One tile: its registers by address, its memory, its locks.

use super::mover::Direction;
use std::collections::BTreeMap;

/// What a tile is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A way to the host.
    Shim,
    /// Memory.
    Memory,
    /// A core with its memory.
    Core,
}

/// Where things are in a tile of a kind.
#[derive(Debug)]
pub(crate) struct Layout {
    /// Bytes of memory, from address 0 on.
    pub(crate) memory: u32,
    /// Locks: the first one's address, 16 bytes each, and how many.
    pub(crate) locks: (u32, u32),
    /// Descriptors: the first one's address, 32 bytes each, how many, and words of each.
    pub(crate) descriptors: (u32, u32, u32),
    /// Queues of channels to memory and from it: the first one's address, 8 bytes each.
    queues: [u32; 2],
    /// Status of channels to memory and from it, 4 bytes each.
    status: [u32; 2],
    /// Channels each way.
    pub(crate) channels: u32,
    /// Configuration of the master and slave ports of the stream switch.
    pub(crate) ports: [u32; 2],
    /// Number of master and slave ports.
    pub(crate) port_counts: [u32; 2],
    /// Further registers that may be written and read back: first and last address.
    plain: &'static [(u32, u32)],
}

const SHIM: Layout = Layout {
    memory: 0,
    locks: (0x14000, 16),
    descriptors: (0x1_d000, 16, 8),
    queues: [0x1_d204, 0x1_d214],
    status: [0x1_d220, 0x1_d228],
    channels: 2,
    ports: [0x3_f000, 0x3_f100],
    port_counts: [22, 23],
    // Between the streams and the data movers.
    plain: &[(0x1_f000, 0x1_f004)],
};
const MEMORY: Layout = Layout {
    memory: 0x8_0000,
    locks: (0xc_0000, 64),
    descriptors: (0xa_0000, 48, 8),
    queues: [0xa_0604, 0xa_0634],
    status: [0xa_0660, 0xa_0680],
    channels: 6,
    ports: [0xb_0000, 0xb_0100],
    port_counts: [17, 18],
    plain: &[],
};
const CORE: Layout = Layout {
    memory: 0x1_0000,
    locks: (0x1_f000, 16),
    descriptors: (0x1_d000, 16, 6),
    queues: [0x1_de04, 0x1_de14],
    status: [0x1_df00, 0x1_df10],
    channels: 2,
    ports: [0x3_f000, 0x3_f100],
    port_counts: [23, 25],
    // Program memory, and the core's control: it can be enabled, and nothing comes of it.
    plain: &[(0x2_0000, 0x2_3ffc), (0x3_2000, 0x3_2000)],
};

impl Kind {
    pub(crate) fn of_row(row: u32) -> Self {
        match row {
            0 => Self::Shim,
            1 => Self::Memory,
            _ => Self::Core,
        }
    }

    pub(crate) const fn layout(self) -> &'static Layout {
        match self {
            Self::Shim => &SHIM,
            Self::Memory => &MEMORY,
            Self::Core => &CORE,
        }
    }

    /// The channel whose queue is at an address.
    pub(crate) fn queue_at(self, at: u32) -> Option<(Direction, u32)> {
        let layout = self.layout();
        Direction::BOTH
            .into_iter()
            .zip(layout.queues)
            .find_map(|(direction, first)| {
                let offset = at.checked_sub(first)?;
                (offset % 8 == 0 && offset / 8 < layout.channels).then_some((direction, offset / 8))
            })
    }

    /// The channel whose status is at an address.
    pub(crate) fn status_at(self, at: u32) -> Option<(Direction, u32)> {
        let layout = self.layout();
        Direction::BOTH
            .into_iter()
            .zip(layout.status)
            .find_map(|(direction, first)| {
                let offset = at.checked_sub(first)?;
                (offset % 4 == 0 && offset / 4 < layout.channels).then_some((direction, offset / 4))
            })
    }

    fn is_plain(self, at: u32) -> bool {
        let layout = self.layout();
        let inside = |(first, bytes): (u32, u32)| at >= first && at < first + bytes;
        let (first, count, _) = layout.descriptors;
        let controls = layout.queues.map(|queue| (queue - 4, 8 * layout.channels));
        inside((first, 0x20 * count))
            || controls.into_iter().any(inside)
            || (0..2).any(|side| inside((layout.ports[side], 4 * layout.port_counts[side])))
            || layout
                .plain
                .iter()
                .any(|&(first, last)| (first..=last).contains(&at))
    }
}

/// A tile.
#[derive(Debug)]
pub(crate) struct Tile {
    pub(crate) kind: Kind,
    registers: BTreeMap<u32, u32>,
    memory: Vec<u32>,
    pub(crate) locks: Vec<i32>,
}

impl Tile {
    pub(crate) fn new(kind: Kind) -> Self {
        let layout = kind.layout();
        Self {
            kind,
            registers: BTreeMap::new(),
            memory: vec![0; layout.memory as usize / 4],
            locks: vec![0; layout.locks.1 as usize],
        }
    }

    /// The words of memory from a word on.
    pub(crate) fn words(&self, at: u64) -> Option<u32> {
        self.memory.get(usize::try_from(at).ok()?).copied()
    }

    /// A word of memory.
    pub(crate) fn word_mut(&mut self, at: u64) -> Option<&mut u32> {
        self.memory.get_mut(usize::try_from(at).ok()?)
    }

    fn lock_at(&self, at: u32) -> Option<usize> {
        let (first, count) = self.kind.layout().locks;
        let offset = at.checked_sub(first)?;
        (offset % 16 == 0 && offset / 16 < count).then_some(offset as usize / 16)
    }

    /// A register that is read back as it was written.
    pub(crate) fn register(&self, at: u32) -> u32 {
        self.registers.get(&at).copied().unwrap_or(0)
    }

    pub(crate) fn write(&mut self, at: u32, value: u32) -> Result<(), String> {
        if !at.is_multiple_of(4) {
            return Err(format!("{at:#x} is inside a register"));
        }
        if at < self.kind.layout().memory {
            self.memory[at as usize / 4] = value;
        } else if let Some(lock) = self.lock_at(at) {
            // Six bits with a sign.
            let six = i32::from_ne_bytes((value << 26).to_ne_bytes()) >> 26;
            self.locks[lock] = six;
        } else if self.kind.is_plain(at) {
            self.registers.insert(at, value);
        } else {
            return Err(format!(
                "no register of a {:?} tile that the model knows is at {at:#x}",
                self.kind
            ));
        }
        Ok(())
    }

    pub(crate) fn read(&self, at: u32) -> Result<u32, String> {
        if at < self.kind.layout().memory {
            Ok(self.memory[at as usize / 4])
        } else if let Some(lock) = self.lock_at(at) {
            Ok(u32::from_ne_bytes(self.locks[lock].to_ne_bytes()) & 0x3f)
        } else if self.kind.is_plain(at) {
            Ok(self.register(at))
        } else {
            Err(format!(
                "no register of a {:?} tile that the model knows is at {at:#x}",
                self.kind
            ))
        }
    }
}
