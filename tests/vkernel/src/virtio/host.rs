//! The host's side of a context: messages, and the objects that they make.
//!
//! It takes bytes and gives bytes. A message has the layout of AMD's `hsakmt_virtio_proto.h`, at literal offsets; one that is
//! shorter than the structure is filled with zeros, one that is longer than the rest of its buffer, or not whole words,
//! is refused. An object is filed under the number that the guest chose until a resource is made of it.

mod commands;

use super::answers::{self, Bytes};
use super::library::{status, Answer, Library};
use super::Base;
use crate::kernel::Kernel;
use crate::Errno;
use hansa_kfd::topology::Topology;
use hansa_plugin_api::sys::File;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// Bytes of the range that memory comes from.
const RANGE_BYTES: u64 = 32 << 30;
/// Bytes of the range for private memory of each GPU, which follow it.
const SCRATCH_BYTES: u64 = 4 << 30;
/// Where doorbells are, from the base on, and memory that the guest has elsewhere.
const DOORBELLS: u64 = 44 << 30;
const ELSEWHERE: u64 = 48 << 30;
/// All addresses of a context.
pub(super) const ADDRESSES: u64 = 64 << 30;
/// Bytes of a GPU's doorbells.
pub(super) const DOORBELL_BYTES: u64 = 0x2000;

/// How the guest's own memory is had.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UserMemory {
    /// Where the guest has it, as with hosts that are the guest's own process.
    #[default]
    Same,
    /// Elsewhere.
    Elsewhere,
    /// Not at all, as Linux's own kernels.
    Refused,
}

/// What is filed under a number, or a resource.
#[derive(Clone, Debug)]
pub(super) enum Object {
    Memory {
        address: u64,
        bytes: u64,
    },
    /// A range for private memory.
    Scratch {
        address: u64,
        bytes: u64,
    },
    /// A piece of it with memory.
    Piece {
        address: u64,
        bytes: u64,
    },
    Queue {
        id: u32,
        bytes: u64,
        memory: [u32; 2],
    },
    Doorbells {
        page: u64,
    },
    Event {
        id: u32,
    },
    User {
        guest: u64,
        bytes: u64,
        host: u64,
    },
}

/// Where a mappable object is.
pub(super) struct Placed {
    pub(super) file: File,
    pub(super) offset: u64,
}

/// A message, filled with zeros to what is looked at.
struct Message(Vec<u8>);

impl Message {
    fn word(&self, at: usize) -> u32 {
        u32::from_le_bytes([self.0[at], self.0[at + 1], self.0[at + 2], self.0[at + 3]])
    }

    fn long(&self, at: usize) -> u64 {
        u64::from(self.word(at)) | u64::from(self.word(at + 4)) << 32
    }
}

/// A context of the host.
#[derive(Debug)]
pub(super) struct Host {
    pub(super) library: Library,
    topology: Topology,
    base: u64,
    /// Free parts of the range, and of the range for private memory: address and bytes.
    free: BTreeMap<u64, u64>,
    /// GPUs whose range for private memory is given.
    scratch_given: BTreeSet<usize>,
    /// Where the doorbells of a node are.
    doorbells: HashMap<u32, u64>,
    filed: HashMap<u64, Object>,
    pub(super) resources: HashMap<u32, Object>,
    /// Memory that queues use, by its host number, with how many; and what was closed meanwhile.
    used: HashMap<u32, u32>,
    closed: HashMap<u32, Object>,
    next_elsewhere: u64,
    /// What keeps the base.
    _kept: Base,
}

impl Host {
    pub(super) fn open(kernel: &Arc<Kernel>) -> Result<Self, Errno> {
        let kept = Base::new();
        let base = kept.0;
        Ok(Self {
            library: Library::open(kernel)?,
            topology: answers::topology(kernel).ok_or(Errno::IO)?,
            base,
            free: BTreeMap::from([(base, RANGE_BYTES)]),
            scratch_given: BTreeSet::new(),
            doorbells: HashMap::new(),
            filed: HashMap::new(),
            resources: HashMap::new(),
            used: HashMap::new(),
            closed: HashMap::new(),
            next_elsewhere: base + ELSEWHERE,
            _kept: kept,
        })
    }

    /// Objects that no resource was made of.
    pub(super) fn filed(&self) -> usize {
        self.filed.len()
    }

    fn take(&mut self, bytes: u64, alignment: u64) -> Answer<u64> {
        let bytes = bytes.next_multiple_of(4096);
        let found = self.free.iter().find_map(|(start, room)| {
            let at = start.next_multiple_of(alignment);
            (at + bytes <= start + room).then_some((*start, *room, at))
        });
        let (start, room, at) = found.ok_or(status::NO_MEMORY)?;
        self.free.remove(&start);
        if at > start {
            self.free.insert(start, at - start);
        }
        if at + bytes < start + room {
            self.free.insert(at + bytes, start + room - at - bytes);
        }
        Ok(at)
    }

    fn give(&mut self, address: u64, bytes: u64) {
        let bytes = bytes.next_multiple_of(4096);
        self.free.insert(address, bytes);
        let mut merged: BTreeMap<u64, u64> = BTreeMap::new();
        for (start, room) in &self.free {
            match merged.iter_mut().next_back() {
                Some((last, length)) if last + *length == *start => *length += room,
                _ => {
                    merged.insert(*start, *room);
                }
            }
        }
        self.free = merged;
    }

    fn file(&mut self, number: u64, object: Object) -> Answer<()> {
        if number == 0 || number > u64::from(u32::MAX) || self.filed.contains_key(&number) {
            return Err(-22);
        }
        self.filed.insert(number, object);
        Ok(())
    }

    /// Makes a resource of what is filed under a number.
    pub(super) fn adopt(
        &mut self,
        number: u64,
        resource: u32,
        bytes: u64,
        mappable: bool,
    ) -> Result<(), Errno> {
        let object = self.filed.get(&number).ok_or(Errno::NOENT)?;
        let (size, may_map) = match object {
            Object::Memory { bytes, .. } => (*bytes, true),
            Object::Scratch { bytes, .. } | Object::Piece { bytes, .. } | Object::Queue { bytes, .. } => {
                (*bytes, false)
            }
            Object::Doorbells { .. } => (DOORBELL_BYTES, true),
            Object::Event { .. } => (72, false),
            Object::User { .. } => return Err(Errno::INVAL),
        };
        if size != bytes || (mappable && !may_map) {
            return Err(Errno::INVAL);
        }
        if let Some(object) = self.filed.remove(&number) {
            self.resources.insert(resource, object);
        }
        Ok(())
    }

    /// Makes a resource of memory of the guest.
    pub(super) fn adopt_user(&mut self, resource: u32, guest: u64, bytes: u64, how: UserMemory) {
        let host = if how == UserMemory::Elsewhere {
            let at = self.next_elsewhere;
            self.next_elsewhere += bytes.next_multiple_of(4096) + 4096;
            at
        } else {
            guest & !4095
        };
        self.resources
            .insert(resource, Object::User { guest, bytes, host });
    }

    /// Where a resource is, for the guest's processors.
    pub(super) fn place(&self, resource: u32) -> Option<Placed> {
        match self.resources.get(&resource)? {
            Object::Memory { address, .. } => {
                let memory = self.library.memory_at(*address).ok()?;
                Some(Placed {
                    file: self.library.render_file(memory.gpu),
                    offset: memory.offset,
                })
            }
            Object::Doorbells { page } => Some(Placed {
                file: self.library.kfd_file(),
                offset: *page,
            }),
            _ => None,
        }
    }

    /// Ends a resource.
    pub(super) fn close(&mut self, resource: u32) {
        let Some(object) = self.resources.remove(&resource) else {
            return;
        };
        if self.used.contains_key(&resource) {
            self.closed.insert(resource, object);
            return;
        }
        if self.end(&object).is_err() {
            // Nobody asks again: a failure that a script wanted is over by now.
            let again = self.end(&object);
            if again.is_err() {
                self.library
                    .kernel
                    .complain(format!("the host could not end {object:?}: {again:?}"));
            }
        }
    }

    fn end(&mut self, object: &Object) -> Answer<()> {
        match object {
            Object::Memory { address, bytes } => {
                self.library.free(*address, false)?;
                self.give(*address, *bytes);
            }
            Object::Piece { address, .. } => self.library.free(*address, false)?,
            Object::Scratch { address, .. } => {
                self.scratch_given.remove(&self.gpu_of_scratch(*address));
            }
            Object::Queue { id, memory, .. } => {
                self.library.destroy_queue(*id)?;
                for resource in memory {
                    let users = self.used.entry(*resource).or_insert(1);
                    *users -= 1;
                    if *users == 0 {
                        self.used.remove(resource);
                        if let Some(closed) = self.closed.remove(resource) {
                            let _ = self.end(&closed);
                        }
                    }
                }
            }
            Object::Event { id } => {
                let _ = self.library.set_event(*id);
                self.library.destroy_event(*id)?;
            }
            Object::Doorbells { .. } | Object::User { .. } => {}
        }
        Ok(())
    }

    /// Answers a message: its command's name, and the bytes of the answer with head and result.
    pub(super) fn answer(&mut self, message: &[u8]) -> Result<(String, Vec<u8>), Errno> {
        let head = Message(message[..16].to_vec());
        let room = |bytes: usize| {
            let mut copy = message.to_vec();
            copy.resize(copy.len().max(bytes), 0);
            Message(copy)
        };
        let (name, values, bytes) = match head.word(0) {
            2 => self.query(&room(128)),
            3 => self.event(&room(104)),
            4 => self.memory(&room(80)),
            5 => self.queue(&room(136)),
            _ => return Err(Errno::INVAL),
        };
        let mut answer = Bytes::new(bytes);
        match self.library.kernel.faults.check(&format!("host {name}")) {
            Err(errno) => {
                let _ = values;
                answer.word(4, u32::from_ne_bytes((-errno.raw_os_error()).to_ne_bytes()));
            }
            Ok(()) => match values(self) {
                Ok(values) => {
                    let end = 8 + values.len();
                    if answer.0.len() < end {
                        answer.0.resize(end, 0);
                    }
                    answer.0[8..end].copy_from_slice(&values);
                }
                Err(status) => {
                    answer.word(4, u32::from_ne_bytes(status.to_ne_bytes()));
                }
            },
        }
        let length = u32::try_from(answer.0.len()).map_err(|_| Errno::NOMEM)?;
        answer.word(0, length);
        Ok((name.to_owned(), answer.0))
    }
}
