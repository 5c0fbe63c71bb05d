//! Memory: allocate, free, map.
//!
//! An allocation is an object of the host at an address of its choice, a resource of the guest's kernel, and what the guest
//! maps of it at the same address. It ends with the resource. Every failure undoes what was done before it; the one thing
//! that cannot be undone is what an answer that cannot be has left on the host.
//!
//! Allocations are found by any address in them, so queues and registrations may use parts.

use crate::context::{Context, Resource};
use crate::error::{Error, Result};
use crate::machine::Machine;
use crate::user_memory::User;
use crate::wire::{bytes, command, memory, memory_flag, Message, VALUES};
use hansa_plugin_api::sync::Mutex;
use hansa_plugin_api::{AllocFlags, AllocRequest, Allocation, BankFlags, BankKind, MemoryHandle};
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};

/// The host aligns memory of devices to this.
const DEVICE_ALIGNMENT: u64 = 2 << 20;

/// An allocation.
#[derive(Debug)]
pub(crate) struct Block {
    /// Where the host put it, and its bytes.
    pub(crate) address: u64,
    pub(crate) bytes: u64,
    /// What was asked for inside it.
    given: (u64, u64),
    pub(crate) resource: Resource,
    /// Nodes that see it, by the host's numbers.
    mapped: Vec<u32>,
    /// The guest has it mapped.
    shown: bool,
    /// It stays until the process ends.
    lasting: bool,
}

impl Block {
    /// Puts a copy of it, of this process alone, in its place; only what lasts is still used in a forked child.
    pub(crate) fn separate(&self, context: &Context) {
        if self.lasting && self.shown {
            // A refusal leaves it shared with the parent.
            let _ = context.window.separate(self.address, self.bytes);
        }
    }
}

/// An allocation that could not be freed.
struct Kept {
    block: Block,
    error: Error,
}

/// What a handle stands for.
#[derive(Debug)]
enum Thing {
    Block(Block),
    User(User),
    /// A part of an allocation, registered as host memory.
    Part,
}

/// A range that devices see at the address where the program has it.
#[derive(Clone, Copy, Debug)]
struct Place {
    bytes: u64,
    /// The host's number of its resource; 0 while it is made.
    resource: u32,
    handle: u64,
}

/// The driver's allocations and registrations.
#[derive(Debug, Default)]
pub struct Memory {
    things: Mutex<HashMap<u64, Thing>>,
    /// By address.
    places: Mutex<BTreeMap<u64, Place>>,
    last: AtomicU64,
}

/// How an object is asked for.
struct ObjectRequest {
    node: u32,
    flags: u32,
    bytes: u64,
    shown: bool,
}

/// A message about memory at an address.
pub(crate) fn about(kind: u32, address: u64, bytes: u64) -> Message {
    Message::new(command::MEMORY, bytes::MEMORY)
        .word(memory::KIND, kind)
        .long(16, address)
        .long(24, bytes)
}

/// Lets exactly these nodes of the host see memory, or none.
pub(crate) fn map_exactly(machine: &Machine, address: u64, bytes: u64, nodes: &[u32]) -> Result<u64> {
    let answer = bytes::MEMORY_ANSWER;
    if nodes.is_empty() {
        machine
            .context
            .send("UNMAP_TO_GPU", about(memory::UNMAP, address, 0), answer)?;
        return Ok(0);
    }
    let mut message = Message::new(command::MEMORY, bytes::MEMORY + nodes.len() * 4)
        .word(memory::KIND, memory::MAP_NODES)
        .long(16, address)
        .long(24, bytes)
        .long(48, nodes.len() as u64);
    for (index, node) in nodes.iter().enumerate() {
        message = message.word(bytes::MEMORY + index * 4, *node);
    }
    Ok(machine
        .context
        .send("MAP_TO_GPU_NODES", message, answer)?
        .long(VALUES))
}

/// As [`map_exactly`], for memory that devices see where it is.
fn map_in_place(machine: &Machine, block: &Block, nodes: &[u32]) -> Result<()> {
    match map_exactly(machine, block.address, block.bytes, nodes)? {
        0 => Ok(()),
        seen if seen == block.address => Ok(()),
        seen => Err(Error::Nonsense {
            request: "MAP_TO_GPU_NODES",
            what: format!("address {seen:#x} for {:#x}", block.address),
        }),
    }
}

impl Memory {
    fn name(&self) -> u64 {
        self.last.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Allocates from a bank.
    ///
    /// # Errors
    ///
    /// What the host and the kernel say.
    pub fn allocate(&self, machine: &Machine, request: &AllocRequest) -> Result<Allocation> {
        let gpu = machine.gpu(request.node)?;
        let bank = machine.description.nodes[request.node as usize]
            .banks
            .get(request.bank as usize)
            .ok_or_else(|| Error::Argument(format!("Node {} has no bank {}", request.node, request.bank)))?;
        if request.flags.contains(AllocFlags::MEMORY_ONLY) || request.flags.contains(AllocFlags::ADDRESS_ONLY)
        {
            return Err(Error::Missing("Memory and addresses apart"));
        }
        if request.address != 0 {
            return Err(Error::Argument("The host chooses addresses".into()));
        }
        let is_host = bank.kind == BankKind::HOST;
        let shown = bank.flags.contains(BankFlags::HOST_VISIBLE);
        let page = machine.system.page_size() as u64;
        let natural = if is_host { page } else { DEVICE_ALIGNMENT };
        let slack = if request.alignment > natural {
            request.alignment
        } else {
            0
        };
        let bytes = request
            .bytes
            .checked_add(slack)
            .and_then(|bytes| bytes.checked_next_multiple_of(page))
            .filter(|bytes| *bytes != 0)
            .ok_or_else(|| Error::Argument(format!("{:#x} bytes", request.bytes)))?;
        let nodes = if is_host {
            machine.all_host_nodes()
        } else {
            vec![gpu.candidate.node]
        };
        let mut block = self.object(
            machine,
            &ObjectRequest {
                node: if is_host {
                    machine.host_node
                } else {
                    gpu.candidate.node
                },
                flags: flags(request.flags, bank.flags, is_host),
                bytes,
                shown,
            },
        )?;
        if let Err(error) = map_in_place(machine, &block, &nodes) {
            self.give_up(machine, block);
            return Err(error);
        }
        block.mapped = nodes;
        block.lasting = request.flags.contains(AllocFlags::LASTING);
        let address = block.address.next_multiple_of(request.alignment.max(1));
        block.given = (address, request.bytes);
        Ok(self.keep(block))
    }

    /// Enters an allocation; answers what the runtime is told of it.
    fn keep(&self, block: Block) -> Allocation {
        let name = self.name();
        let (address, bytes) = block.given;
        let allocation = Allocation {
            handle: MemoryHandle(name),
            device_address: address,
            host_address: if block.shown { address } else { 0 },
            bytes,
        };
        self.enter(block.address, block.bytes, block.resource, name);
        self.things.lock().insert(name, Thing::Block(block));
        allocation
    }

    fn enter(&self, address: u64, bytes: u64, resource: Resource, handle: u64) {
        let place = Place {
            bytes,
            resource: resource.number,
            handle,
        };
        self.places.lock().insert(address, place);
    }

    /// Takes a range that the host gave, unless something is there.
    pub(crate) fn claim(&self, address: u64, bytes: u64) -> bool {
        let mut places = self.places.lock();
        let before = places.range(..address.saturating_add(bytes)).next_back();
        let free = before.is_none_or(|(start, place)| start + place.bytes <= address);
        if free {
            let made = Place {
                bytes,
                resource: 0,
                handle: 0,
            };
            places.insert(address, made);
        }
        free
    }

    pub(crate) fn disclaim(&self, address: u64) {
        self.places.lock().remove(&address);
    }

    /// What devices see at the program's address: the host's number of the resource with the whole range, and its handle.
    pub(crate) fn at(&self, address: u64, bytes: u64) -> Option<(u32, MemoryHandle)> {
        let places = self.places.lock();
        let (start, place) = places.range(..=address).next_back()?;
        let inside = address - start;
        (place.resource != 0 && inside < place.bytes && bytes <= place.bytes - inside)
            .then_some((place.resource, MemoryHandle(place.handle)))
    }

    /// The allocations that cover a range, one after the other; none where a part of it is something else.
    pub(crate) fn covering(&self, address: u64, bytes: u64) -> Vec<MemoryHandle> {
        let places = self.places.lock();
        let end = address.saturating_add(bytes);
        let mut found = Vec::new();
        let mut at = address;
        while at < end {
            match places.range(..=at).next_back() {
                Some((start, place)) if place.resource != 0 && at - start < place.bytes => {
                    found.push(MemoryHandle(place.handle));
                    at = start + place.bytes;
                }
                _ => return Vec::new(),
            }
        }
        found
    }

    /// Enters allocations that an earlier driver of the process left.
    pub(crate) fn restore(&self, blocks: Vec<Block>) {
        for block in blocks {
            self.keep(block);
        }
    }

    /// Makes what lasts memory of this process alone, in a forked child.
    pub(crate) fn separate(&self, context: &Context) {
        // The parent's threads are not here, and one of them may have held it.
        let Some(things) = self.things.try_lock() else {
            return;
        };
        for thing in things.values() {
            if let Thing::Block(block) = thing {
                block.separate(context);
            }
        }
    }

    /// Makes an object of the host, its resource, and what the guest maps of it.
    fn object(&self, machine: &Machine, request: &ObjectRequest) -> Result<Block> {
        let context = &machine.context;
        let number = context.number()?;
        let bytes = request.bytes;
        let message = Message::new(command::MEMORY, bytes::MEMORY)
            .word(memory::KIND, memory::ALLOC)
            .word(16, request.node)
            .word(20, request.flags)
            .long(24, bytes)
            .long(memory::BLOB, number);
        let address = context
            .send("MEMORY_ALLOC", message, bytes::MEMORY_ANSWER)?
            .long(VALUES);
        let page = machine.system.page_size() as u64;
        if !context.window.contains(address, bytes)
            || !address.is_multiple_of(page)
            || !self.claim(address, bytes)
        {
            return Err(Error::Nonsense {
                request: "MEMORY_ALLOC",
                what: format!("{bytes:#x} bytes at {address:#x}"),
            });
        }
        let resource = context.adopt(number, bytes, request.shown).inspect_err(|_| {
            let free = about(memory::FREE, address, bytes);
            context.undo("MEMORY_FREE", &free, bytes::MEMORY_ANSWER);
            self.disclaim(address);
        })?;
        let mut block = Block {
            address,
            bytes,
            given: (address, bytes),
            resource,
            mapped: Vec::new(),
            shown: false,
            lasting: false,
        };
        if request.shown {
            let file = context.node().file();
            let shown = context
                .place_of(resource)
                .and_then(|offset| context.window.show("host memory", address, bytes, file, offset));
            if let Err(error) = shown {
                self.give_up(machine, block);
                return Err(error);
            }
            block.shown = true;
        }
        Ok(block)
    }

    /// Frees an allocation, when the first error is the one to tell, or nobody is left to tell one to.
    fn give_up(&self, machine: &Machine, block: Block) {
        if let Err(kept) = self.end(machine, block) {
            // Once more; what is refused again goes with the context, and its addresses stay taken.
            let _ = self.end(machine, kept.block);
        }
    }

    /// Frees an allocation. When that is refused, it is still there, and not mapped any more.
    fn end(&self, machine: &Machine, mut block: Block) -> std::result::Result<(), Box<Kept>> {
        let context = &machine.context;
        if block.shown {
            if let Err(error) = context.window.hide(block.address, block.bytes) {
                return Err(Box::new(Kept { block, error }));
            }
            block.shown = false;
        }
        if let Err(error) = context.close(block.resource) {
            return Err(Box::new(Kept { block, error }));
        }
        self.disclaim(block.address);
        Ok(())
    }

    /// Enters memory of the process; answers its handle.
    pub(crate) fn keep_user(&self, user: User) -> MemoryHandle {
        let name = self.name();
        if user.seen == user.address {
            self.enter(user.address, user.bytes, user.resource, name);
        }
        self.things.lock().insert(name, Thing::User(user));
        MemoryHandle(name)
    }

    /// Enters a part of an allocation; answers its handle.
    pub(crate) fn keep_part(&self) -> MemoryHandle {
        let name = self.name();
        self.things.lock().insert(name, Thing::Part);
        MemoryHandle(name)
    }

    fn take(&self, handle: MemoryHandle) -> Result<Thing> {
        self.things
            .lock()
            .remove(&handle.0)
            .ok_or(Error::Handle("an allocation"))
    }

    fn put_back(&self, handle: MemoryHandle, thing: Thing) {
        self.things.lock().insert(handle.0, thing);
    }

    /// Frees an allocation, or undoes a registration.
    ///
    /// # Errors
    ///
    /// [`Error::Handle`]; what the kernel says, and then it is still there.
    pub fn free(&self, machine: &Machine, handle: MemoryHandle) -> Result<()> {
        match self.take(handle)? {
            Thing::Block(block) => self.end(machine, block).map_err(|kept| {
                self.put_back(handle, Thing::Block(kept.block));
                kept.error
            }),
            Thing::User(mut user) => match user.end(machine) {
                Ok(()) => {
                    if user.seen == user.address {
                        self.disclaim(user.address);
                    }
                    Ok(())
                }
                Err(error) => {
                    self.put_back(handle, Thing::User(user));
                    Err(error)
                }
            },
            Thing::Part => Ok(()),
        }
    }

    /// Lets further nodes see memory.
    ///
    /// # Errors
    ///
    /// [`Error::Handle`], and what the host says: then it is as it was.
    pub fn map(&self, machine: &Machine, handle: MemoryHandle, nodes: &[u32]) -> Result<()> {
        self.change(machine, handle, |mapped| {
            for node in nodes {
                if !mapped.contains(node) {
                    mapped.push(*node);
                }
            }
        })
    }

    /// Takes memory from the sight of nodes.
    ///
    /// # Errors
    ///
    /// As [`Self::map`].
    pub fn unmap(&self, machine: &Machine, handle: MemoryHandle, nodes: &[u32]) -> Result<()> {
        self.change(machine, handle, |mapped| {
            mapped.retain(|node| !nodes.contains(node));
        })
    }

    fn change(&self, machine: &Machine, handle: MemoryHandle, act: impl FnOnce(&mut Vec<u32>)) -> Result<()> {
        let mut thing = self.take(handle)?;
        let outcome = match &mut thing {
            Thing::Block(block) => {
                let mut wanted = block.mapped.clone();
                act(&mut wanted);
                if wanted == block.mapped {
                    Ok(())
                } else {
                    map_in_place(machine, block, &wanted).map(|()| block.mapped = wanted)
                }
            }
            Thing::User(user) => {
                let mut wanted = user.mapped.clone();
                act(&mut wanted);
                user.map(machine, wanted)
            }
            // Others may see the same allocation for reasons of their own.
            Thing::Part => Ok(()),
        };
        self.put_back(handle, thing);
        outcome
    }

    /// Bytes that can still be allocated.
    ///
    /// # Errors
    ///
    /// What the host says.
    pub fn available(machine: &Machine, node: u32) -> Result<u64> {
        let gpu = machine.gpu(node)?;
        let message = Message::new(command::MEMORY, bytes::MEMORY)
            .word(memory::KIND, memory::AVAILABLE)
            .word(16, gpu.candidate.node);
        let left = machine
            .context
            .send("AVAIL_MEM", message, bytes::MEMORY_ANSWER)?
            .long(VALUES);
        let banks = machine.description.nodes[node as usize].banks.iter();
        let local = banks.filter(|bank| bank.kind == BankKind::LOCAL);
        Ok(left.min(local.map(|bank| bank.bytes).max().unwrap_or(0)))
    }

    /// Frees everything.
    pub(crate) fn close(&self, machine: &Machine) {
        let mut kept = Vec::new();
        let things: Vec<Thing> = self.things.lock().drain().map(|(_, thing)| thing).collect();
        for thing in things {
            match thing {
                Thing::Block(block) if block.lasting => kept.push(block),
                Thing::Block(block) => self.give_up(machine, block),
                Thing::User(mut user) => {
                    if user.end(machine).is_err() {
                        let _ = user.end(machine);
                    }
                }
                Thing::Part => {}
            }
        }
        self.places.lock().clear();
        *machine.context.kept.lock() = kept;
    }
}

/// The host's attributes for a request.
fn flags(wanted: AllocFlags, bank: BankFlags, is_host: bool) -> u32 {
    let mut flags = memory_flag::EXECUTE | memory_flag::NO_SUBSTITUTE;
    let fine = wanted.contains(AllocFlags::FINE_GRAIN) || bank.contains(BankFlags::FINE_GRAIN);
    for (on, bit) in [
        (!is_host, memory_flag::NON_PAGED),
        (bank.contains(BankFlags::HOST_VISIBLE), memory_flag::HOST_ACCESS),
        (!fine, memory_flag::COARSE_GRAIN),
        (wanted.contains(AllocFlags::READ_ONLY), memory_flag::READ_ONLY),
        (wanted.contains(AllocFlags::UNCACHED), memory_flag::UNCACHED),
        (wanted.contains(AllocFlags::CONTIGUOUS), memory_flag::CONTIGUOUS),
    ] {
        if on {
            flags |= bit;
        }
    }
    flags
}
