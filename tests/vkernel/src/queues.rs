//! Queues, and the kernel's checks of what they are made of.

use crate::buffers::{Backing, Buffers};
use crate::machine::Gpu;
use crate::Errno;
use hansa_kfd::uapi::queue as uapi;
use std::collections::BTreeMap;

/// Doorbells of a process on one GPU.
const DOORBELLS: u32 = 1024;

/// A queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Queue {
    /// What was asked for, with what was answered.
    pub request: uapi::CreateQueue,
    /// Its GPU.
    pub gpu: usize,
    /// Its place in the doorbell page.
    pub doorbell: u32,
    /// Share in percent; 0 is stopped.
    pub percent: u32,
    /// Compute units, when they were limited.
    pub cu_mask: Vec<u32>,
    /// Global wave sync resources.
    pub gws: u32,
    /// It rests, for its share or its ring.
    pub rests: bool,
    /// A debugger stopped it.
    pub suspended: bool,
    /// Exceptions that happened, each a bit.
    pub exceptions: u64,
}

/// The queues of a process.
#[derive(Debug, Default)]
pub struct Queues {
    /// By number.
    pub table: BTreeMap<u32, Queue>,
}

impl Queues {
    /// A queue by its number.
    ///
    /// # Errors
    ///
    /// [`Errno::INVAL`].
    pub fn get(&mut self, id: u32) -> Result<&mut Queue, Errno> {
        self.table.get_mut(&id).ok_or(Errno::INVAL)
    }

    /// Whether a queue of a GPU is made of memory in a range.
    #[must_use]
    pub fn uses(&self, gpu: usize, start: u64, end: u64) -> bool {
        let inside = |address: u64| address != 0 && (start..end).contains(&address);
        self.table.values().filter(|queue| queue.gpu == gpu).any(|queue| {
            let a = &queue.request;
            inside(a.ring_base_address)
                || inside(a.read_pointer_address)
                || inside(a.write_pointer_address)
                || inside(a.eop_buffer_address)
                || inside(a.ctx_save_restore_address)
        })
    }

    /// Enters a queue; answers its number and its place in the doorbell page, which is the number on an old GPU.
    ///
    /// # Errors
    ///
    /// [`Errno::NOMEM`] when all doorbells are taken.
    pub fn enter(
        &mut self,
        request: uapi::CreateQueue,
        gpu: usize,
        is_old: bool,
    ) -> Result<(u32, u32), Errno> {
        let id = (0..u32::MAX)
            .find(|id| !self.table.contains_key(id))
            .ok_or(Errno::NOMEM)?;
        let slots = if is_old {
            id..(id + 1).min(DOORBELLS)
        } else {
            0..DOORBELLS
        };
        let doorbell = { slots }
            .find(|slot| {
                !self
                    .table
                    .values()
                    .any(|queue| queue.gpu == gpu && queue.doorbell == *slot)
            })
            .ok_or(Errno::NOMEM)?;
        let queue = Queue {
            request,
            gpu,
            doorbell,
            percent: request.queue_percentage,
            cu_mask: Vec::new(),
            gws: 0,
            rests: request.queue_percentage == 0 || request.ring_base_address == 0,
            suspended: false,
            exceptions: crate::debug::mask(crate::debug::exception::QUEUE_NEW),
        };
        self.table.insert(id, queue);
        Ok((id, doorbell))
    }
}

/// What the kernel checks of the numbers alone.
///
/// # Errors
///
/// [`Errno::INVAL`], and [`Errno::NOMEM`] for a queue of an engine where there is none.
pub fn check_numbers(a: &uapi::CreateQueue, gpu: &Gpu) -> Result<(), Errno> {
    let good = a.queue_percentage <= uapi::MAX_QUEUE_PERCENTAGE
        && a.queue_priority <= uapi::MAX_QUEUE_PRIORITY
        && a.queue_type <= uapi::QUEUE_TYPE_SDMA_BY_ENG_ID
        && (a.ring_size == 0 || a.ring_size.is_power_of_two())
        && (a.ring_size == 0) == (a.ring_base_address == 0)
        && a.write_pointer_address != 0
        && a.read_pointer_address != 0
        && (a.queue_type != uapi::QUEUE_TYPE_SDMA_BY_ENG_ID || a.sdma_engine_id < gpu.engines);
    let computes = matches!(
        a.queue_type,
        uapi::QUEUE_TYPE_COMPUTE | uapi::QUEUE_TYPE_COMPUTE_AQL
    );
    match (good, computes || gpu.engines != 0) {
        (true, true) => Ok(()),
        (true, false) => Err(Errno::NOMEM),
        (false, _) => Err(Errno::INVAL),
    }
}

/// A buffer that lies exactly at an address.
fn exact(buffers: &Buffers, gpu: usize, address: u64, bytes: u64) -> Result<u32, Errno> {
    buffers
        .at(gpu, address)
        .filter(|buffer| buffer.address == address && buffer.bytes == bytes)
        .map(|buffer| buffer.flags)
        .ok_or(Errno::INVAL)
}

/// What the kernel checks of the buffers since 6.12.
///
/// # Errors
///
/// [`Errno::INVAL`], and [`Errno::PERM`] when a scheduler in firmware could not read the write index.
pub fn check_buffers(
    a: &uapi::CreateQueue,
    gpu: &Gpu,
    index: usize,
    buffers: &Buffers,
    page: u64,
) -> Result<(), Errno> {
    let page_of = |address: u64| address & !(page - 1);
    exact(buffers, index, page_of(a.read_pointer_address), page)?;
    let write = exact(buffers, index, page_of(a.write_pointer_address), page)?;
    if gpu.version >= 110_000 && write & hansa_kfd::uapi::memory::ALLOC_USERPTR != 0 {
        return Err(Errno::PERM);
    }
    let aql = a.queue_type == uapi::QUEUE_TYPE_COMPUTE_AQL;
    let times = if aql && gpu.is_old { 2 } else { 1 };
    exact(
        buffers,
        index,
        a.ring_base_address,
        u64::from(a.ring_size) / times,
    )?;
    if !matches!(
        a.queue_type,
        uapi::QUEUE_TYPE_COMPUTE | uapi::QUEUE_TYPE_COMPUTE_AQL
    ) {
        return Ok(());
    }
    if a.eop_buffer_address != 0 {
        let bytes = if gpu.version == 80_002 { 0x8000 } else { 4096 };
        if a.eop_buffer_size != bytes {
            return Err(Errno::INVAL);
        }
        exact(buffers, index, a.eop_buffer_address, bytes.next_multiple_of(page))?;
    }
    if let Some(area) = gpu.save_area(page) {
        if a.ctl_stack_size != area.control_stack || a.ctx_save_restore_size < area.per_die {
            return Err(Errno::INVAL);
        }
        exact(buffers, index, a.ctx_save_restore_address, area.total)?;
    }
    Ok(())
}

/// Whether a GPU sees ring and indices at all, which every kernel depends on.
///
/// # Errors
///
/// [`Errno::INVAL`].
pub fn check_visible(a: &uapi::CreateQueue, index: usize, buffers: &Buffers) -> Result<(), Errno> {
    for address in [
        a.ring_base_address,
        a.read_pointer_address,
        a.write_pointer_address,
    ] {
        let readable = buffers
            .at(index, address)
            .is_some_and(|buffer| !matches!(*buffer.backing, Backing::Nothing | Backing::Doorbells(_)));
        if !readable {
            return Err(Errno::INVAL);
        }
    }
    Ok(())
}
