//! Memory that the guest's process has: registered with the host, page by page.
//!
//! The guest's kernel makes a resource of it, if it can (Linux's own cannot yet), and the host has the pages at an address of
//! its own, where devices see them then. So it serves what is locked for one driver alone, at an address of that driver's; a
//! registration that has to be at the program's address works only where the host's happens to be the same.

use crate::context::Resource;
use crate::error::{Error, Result};
use crate::machine::Machine;
use crate::memory::{about, map_exactly};
use crate::window::LIMIT;
use crate::wire::{bytes, command, memory, memory_flag, Message, VALUES};
use hansa_plugin_api::{AllocFlags, Allocation, HostMemoryRequest};

/// Registered memory of the process.
#[derive(Debug)]
pub(crate) struct User {
    /// Where the program has it.
    pub(crate) address: u64,
    pub(crate) bytes: u64,
    pub(crate) resource: Resource,
    /// Where the host has it.
    host: u64,
    /// Where devices see it.
    pub(crate) seen: u64,
    /// Nodes that see it, by the host's numbers.
    pub(crate) mapped: Vec<u32>,
    /// The host's library knows it.
    registered: bool,
}

/// Registers memory of the process, or finds it in an allocation.
///
/// # Errors
///
/// [`Error::Elsewhere`], [`Error::Unseen`] where the guest's kernel has no such resources, and what the host says; then
/// nothing is left of it.
pub fn register(machine: &Machine, request: &HostMemoryRequest<'_>) -> Result<Allocation> {
    let nodes = machine.host_nodes(request.nodes.as_slice())?;
    let (address, bytes) = (request.address, request.bytes);
    let covering = machine.memory.covering(address, bytes);
    if !covering.is_empty() {
        for of in covering {
            machine.memory.map(machine, of, &nodes)?;
        }
        return Ok(Allocation {
            handle: machine.memory.keep_part(),
            device_address: address,
            host_address: address,
            bytes,
        });
    }
    let adopted = machine.context.adopt_user(address, bytes).map_err(|error| {
        if error.is_unknown_to_the_kernel() {
            Error::Unseen
        } else {
            error
        }
    })?;
    let mut user = User {
        address,
        bytes,
        resource: adopted.resource,
        host: 0,
        seen: 0,
        mapped: Vec::new(),
        registered: false,
    };
    let own_address = request.flags.contains(AllocFlags::OWN_ADDRESS);
    let read_only = request.flags.contains(AllocFlags::READ_ONLY);
    let made = user
        .make(machine, adopted.offset, read_only)
        .and_then(|()| user.map(machine, nodes));
    let elsewhere = user.seen != address && !own_address;
    let made = made.and(if elsewhere {
        Err(Error::Elsewhere {
            address,
            seen: user.seen,
        })
    } else {
        Ok(())
    });
    if let Err(error) = made {
        // The first error is the one to tell; what is refused twice goes with the context.
        if user.end(machine).is_err() {
            let _ = user.end(machine);
        }
        return Err(error);
    }
    let device_address = user.seen;
    Ok(Allocation {
        handle: machine.memory.keep_user(user),
        device_address,
        host_address: address,
        bytes,
    })
}

impl User {
    /// Finds out where the host has it, and lets the host's library know it.
    fn make(&mut self, machine: &Machine, offset: u64, read_only: bool) -> Result<()> {
        let page = machine.system.page_size() as u64;
        let message = Message::new(command::MEMORY, bytes::MEMORY)
            .word(memory::KIND, memory::MAP_USER)
            .word(memory::RESOURCE, self.resource.number);
        let base = machine
            .context
            .send("MAP_USERPTR", message, bytes::MEMORY_ANSWER)?
            .long(VALUES);
        let host = base
            .checked_add(offset)
            .and_then(|at| at.checked_add(self.address & (page - 1)))
            .filter(|at| at.checked_add(self.bytes).is_some_and(|end| end <= LIMIT));
        self.host = host
            .filter(|_| base != 0 && base.is_multiple_of(page))
            .ok_or_else(|| Error::Nonsense {
                request: "MAP_USERPTR",
                what: format!("address {base:#x} and offset {offset:#x}"),
            })?;
        let mut flags = memory_flag::HOST_ACCESS | memory_flag::EXECUTE;
        if read_only {
            flags |= memory_flag::READ_ONLY;
        }
        let message = about(memory::REGISTER, self.host, self.bytes)
            .word(32, flags)
            .word(memory::RESOURCE, self.resource.number);
        machine
            .context
            .send("REG_MEM_WITH_FLAG", message, bytes::MEMORY_ANSWER)?;
        self.registered = true;
        Ok(())
    }

    /// Lets exactly these nodes see it.
    pub(crate) fn map(&mut self, machine: &Machine, nodes: Vec<u32>) -> Result<()> {
        if nodes == self.mapped && self.seen != 0 {
            return Ok(());
        }
        let seen = match map_exactly(machine, self.host, self.bytes, &nodes)? {
            0 => self.host,
            seen => seen,
        };
        self.mapped = nodes;
        if self.seen == 0 {
            self.seen = seen;
        } else if !self.mapped.is_empty() && seen != self.seen {
            return Err(Error::Nonsense {
                request: "MAP_TO_GPU_NODES",
                what: format!("address {seen:#x} after {:#x}", self.seen),
            });
        }
        Ok(())
    }

    /// Undoes it, as far as it was made. What was refused can be tried again.
    pub(crate) fn end(&mut self, machine: &Machine) -> Result<()> {
        if !self.mapped.is_empty() {
            map_exactly(machine, self.host, self.bytes, &[])?;
            self.mapped.clear();
        }
        if self.registered {
            let message =
                about(memory::DEREGISTER, self.host, 0).word(memory::RESOURCE, self.resource.number);
            machine.context.send("DEREG_MEM", message, bytes::MEMORY_ANSWER)?;
            self.registered = false;
        }
        machine.context.close(self.resource)
    }
}
