//! Messages to the host: where which field is.
//!
//! A message is the C structure of AMD's `hsakmt_virtio_proto.h` (libhsakmt of 2025) as a compiler for x86-64 lays it out:
//! a head of 16 bytes (command, bytes, sequence number, place of the answer), a union of arguments, words after it, and
//! sometimes a list. An answer begins with its length and a result: 0, an errno below, a status above.

/// Kinds of messages.
pub mod command {
    /// Questions.
    pub const QUERY: u32 = 2;
    /// Events.
    pub const EVENT: u32 = 3;
    /// Memory.
    pub const MEMORY: u32 = 4;
    /// Queues.
    pub const QUEUE: u32 = 5;
}

/// Bytes of messages and answers, without lists.
pub mod bytes {
    /// The head of a message.
    pub const HEAD: usize = 16;
    /// A question.
    pub const QUERY: usize = 128;
    /// Its answer.
    pub const QUERY_ANSWER: usize = 424;
    /// About an event.
    pub const EVENT: usize = 104;
    /// The answer.
    pub const EVENT_ANSWER: usize = 80;
    /// About memory.
    pub const MEMORY: usize = 80;
    /// The answer.
    pub const MEMORY_ANSWER: usize = 24;
    /// About a queue.
    pub const QUEUE: usize = 136;
    /// The answer.
    pub const QUEUE_ANSWER: usize = 96;
}

/// Where an answer's result is.
pub const RESULT: usize = 4;
/// Where an answer's values begin.
pub const VALUES: usize = 8;

/// Questions: kind at [`query::KIND`], arguments from [`query::ARGUMENTS`] on.
pub mod query {
    /// The kind.
    pub const KIND: usize = 48;
    /// The arguments.
    pub const ARGUMENTS: usize = 56;
    /// What libdrm knows of the GPU.
    pub const GPU_INFO: u32 = 0;
    /// Opens the host's driver; answers the range of addresses.
    pub const OPEN: u32 = 1;
    /// Version of the host's interface.
    pub const VERSION: u32 = 2;
    /// How many nodes there are.
    pub const SYSTEM: u32 = 4;
    /// A node.
    pub const NODE: u32 = 5;
    /// Whether memory faults are replayed.
    pub const XNACK: u32 = 6;
    /// Memory of a node.
    pub const BANKS: u32 = 9;
    /// Caches of a node.
    pub const CACHES: u32 = 10;
    /// Links of a node.
    pub const LINKS: u32 = 11;
    /// Clocks.
    pub const CLOCKS: u32 = 12;
}

/// Memory.
pub mod memory {
    /// The number that the object is filed under.
    pub const BLOB: usize = 64;
    /// The kind.
    pub const KIND: usize = 72;
    /// A resource.
    pub const RESOURCE: usize = 76;
    /// Allocates.
    pub const ALLOC: u32 = 0;
    /// Lets exactly these nodes see it.
    pub const MAP_NODES: u32 = 1;
    /// Frees what no resource was made of.
    pub const FREE: u32 = 2;
    /// Takes it from all nodes.
    pub const UNMAP: u32 = 3;
    /// How much is left.
    pub const AVAILABLE: u32 = 4;
    /// Puts memory behind a part of private memory.
    pub const MAP: u32 = 5;
    /// Registers memory of the process.
    pub const REGISTER: u32 = 6;
    /// Undoes that.
    pub const DEREGISTER: u32 = 7;
    /// Where the host has memory of the guest's process.
    pub const MAP_USER: u32 = 8;
}

/// Attributes of memory (`HsaMemFlags`).
pub mod memory_flag {
    /// The device's own.
    pub const NON_PAGED: u32 = 1;
    /// Devices do not write it.
    pub const READ_ONLY: u32 = 1 << 3;
    /// The host reads and writes it.
    pub const HOST_ACCESS: u32 = 1 << 6;
    /// This kind and no other.
    pub const NO_SUBSTITUTE: u32 = 1 << 7;
    /// Private memory of waves.
    pub const SCRATCH: u32 = 1 << 9;
    /// Code runs from it.
    pub const EXECUTE: u32 = 1 << 12;
    /// Coherent between kernels.
    pub const COARSE_GRAIN: u32 = 1 << 13;
    /// Not cached.
    pub const UNCACHED: u32 = 1 << 17;
    /// Physically contiguous.
    pub const CONTIGUOUS: u32 = 1 << 22;
}

/// Queues.
pub mod queue {
    /// The number that the queue is filed under.
    pub const BLOB: usize = 96;
    /// The number that the doorbells are filed under.
    pub const DOORBELL_BLOB: usize = 112;
    /// Resource with the indices.
    pub const INDEX_RESOURCE: usize = 120;
    /// The kind of message.
    pub const KIND: usize = 124;
    /// Resource with the ring.
    pub const RING_RESOURCE: usize = 128;
    /// Makes one.
    pub const CREATE: u32 = 0;
    /// Destroys one that no resource was made of.
    pub const DESTROY: u32 = 1;
    /// A queue of AQL packets.
    pub const AQL: u32 = 21;
}

/// Events.
pub mod event {
    /// The kind of message.
    pub const KIND: usize = 80;
    /// The number that the event is filed under.
    pub const BLOB: usize = 88;
    /// The event's resource.
    pub const RESOURCE: usize = 96;
    /// Makes one.
    pub const CREATE: u32 = 0;
    /// Destroys one that no resource was made of.
    pub const DESTROY: u32 = 1;
    /// Raises one.
    pub const SET: u32 = 2;
    /// Lowers one.
    pub const RESET: u32 = 3;
    /// Whether one is raised.
    pub const QUERY: u32 = 4;
    /// Sets a trap handler.
    pub const TRAP: u32 = 6;
}

/// A message as it is put together.
#[derive(Clone, Debug)]
pub struct Message(Vec<u8>);

impl Message {
    /// A message of a kind, zero otherwise.
    #[must_use]
    pub fn new(command: u32, bytes: usize) -> Self {
        let mut message = Self(vec![0; bytes.next_multiple_of(8)]);
        let length = u32::try_from(message.0.len()).unwrap_or(u32::MAX);
        message.put(0, &command.to_le_bytes());
        message.put(4, &length.to_le_bytes());
        message
    }

    fn put(&mut self, at: usize, bytes: &[u8]) {
        self.0[at..at + bytes.len()].copy_from_slice(bytes);
    }

    /// With a byte.
    #[must_use]
    pub fn byte(mut self, at: usize, value: u8) -> Self {
        self.put(at, &[value]);
        self
    }

    /// With 32 bits.
    #[must_use]
    pub fn word(mut self, at: usize, value: u32) -> Self {
        self.put(at, &value.to_le_bytes());
        self
    }

    /// With 64 bits.
    #[must_use]
    pub fn long(mut self, at: usize, value: u64) -> Self {
        self.put(at, &value.to_le_bytes());
        self
    }

    /// Gives it its sequence number and the place of its answer; answers the bytes.
    #[must_use]
    pub fn seal(mut self, sequence: u32, place: u32) -> Vec<u8> {
        self.put(8, &sequence.to_le_bytes());
        self.put(12, &place.to_le_bytes());
        self.0
    }
}

/// An answer, copied from where the host can change it, with as many bytes as were asked for.
#[derive(Clone, Debug)]
pub struct Answer(pub(crate) Vec<u8>);

impl Answer {
    fn part<const N: usize>(&self, at: usize) -> [u8; N] {
        self.0
            .get(at..)
            .and_then(|rest| rest.first_chunk())
            .copied()
            .unwrap_or([0; N])
    }

    /// 8 bits.
    #[must_use]
    pub fn byte(&self, at: usize) -> u8 {
        self.part::<1>(at)[0]
    }

    /// 16 bits.
    #[must_use]
    pub fn half(&self, at: usize) -> u16 {
        u16::from_le_bytes(self.part(at))
    }

    /// 32 bits.
    #[must_use]
    pub fn word(&self, at: usize) -> u32 {
        u32::from_le_bytes(self.part(at))
    }

    /// 64 bits.
    #[must_use]
    pub fn long(&self, at: usize) -> u64 {
        u64::from_le_bytes(self.part(at))
    }

    /// The result.
    #[must_use]
    pub fn result(&self) -> i32 {
        i32::from_le_bytes(self.part(RESULT))
    }

    /// Text with an end of 0.
    #[must_use]
    pub fn text(&self, at: usize, bytes: usize) -> String {
        let text = self.0.get(at..at + bytes).unwrap_or_default();
        let end = text.iter().position(|byte| *byte == 0).unwrap_or(text.len());
        String::from_utf8_lossy(&text[..end]).into_owned()
    }

    /// Entries of a list after the values.
    pub fn entries(&self, from: usize, bytes: usize) -> impl Iterator<Item = Self> + '_ {
        self.0
            .get(from..)
            .unwrap_or_default()
            .chunks_exact(bytes)
            .map(|entry| Self(entry.to_vec()))
    }
}
