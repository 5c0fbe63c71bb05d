//! Slots of queue descriptors: free ones are kept, new ones are shown to every device.

use super::descriptor::{Descriptor, ARENA, MAX_QUEUES, SLOT_BYTES};
use crate::error::{Error, Result};
use crate::runtime::Runtime;
use hansa_plugin_api::fork::Lock;

/// Slots committed at a time.
const STEP: usize = 16;

/// How far slots in use are apart: a driver may have to put other memory in place of a descriptor's page, so there is one in
/// each page of the system.
fn apart() -> usize {
    (rustix::param::page_size() / SLOT_BYTES).clamp(1, STEP)
}

static FREE: Lock<Vec<usize>> = Lock::new(Vec::new());

/// Takes a slot that every device of the runtime sees.
///
/// # Errors
///
/// [`Error::OutOfResources`] when there is none.
pub(super) fn take(runtime: &Runtime) -> Result<&'static Descriptor> {
    let mut free = FREE.lock();
    if let Some(address) = free.pop() {
        return Ok(Descriptor::at(address));
    }
    let old = ARENA.committed_slots();
    if old == MAX_QUEUES {
        return Err(Error::OutOfResources("queues"));
    }
    let new = (old + STEP).min(MAX_QUEUES);
    let (address, bytes) = ARENA.commit(new)?;
    runtime.show_arena(address as u64, bytes as u64)?;
    let others = (old..new).step_by(apart()).skip(1);
    free.extend(others.rev().map(|index| ARENA.address_of(index)));
    Ok(Descriptor::at(ARENA.address_of(old)))
}

/// Gives a slot back.
pub(super) fn give_back(descriptor: &'static Descriptor) {
    FREE.lock().push(std::ptr::from_ref(descriptor).addr());
}

/// Address and bytes of all slots there are, for a runtime that starts after another.
pub(crate) fn committed() -> Option<(u64, u64)> {
    let slots = ARENA.committed_slots();
    (slots != 0).then(|| (ARENA.address_of(0) as u64, (slots * SLOT_BYTES) as u64))
}
