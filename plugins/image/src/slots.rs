//! Memory for descriptors: pieces of 64 bytes that the host writes and every device reads.
//!
//! A handle is the address of its piece. Pieces come from a CPU agent's coherent pool in blocks, which stay until the
//! runtime goes and frees all of its memory.

use crate::entry::{Failure, Outcome};
use hansa_plugin_api::hsa::hsa_status_t;
use hansa_plugin_api::{AgentKind, MemoryServicesRef, RuntimeServicesRef};
use std::sync::{Mutex, PoisonError};

/// Bytes of a piece; a descriptor's loads want 32.
const PIECE: u64 = 64;
/// Bytes of a block.
const BLOCK: u64 = 64 << 10;
/// `HSA_AMD_SEGMENT_GLOBAL`.
const GLOBAL: u32 = 0;
/// `HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED`.
const FINE_GRAINED: u32 = 2;

/// The pieces that nobody uses.
#[derive(Debug, Default)]
pub(crate) struct Slots {
    free: Mutex<Vec<u64>>,
}

impl Slots {
    /// A piece with these words at its start. OUT_OF_RESOURCES.
    pub(crate) fn take(
        &self,
        runtime: RuntimeServicesRef<'static>,
        memory: MemoryServicesRef<'static>,
        words: &[u32],
    ) -> Outcome<u64> {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        if free.is_empty() {
            let block = allocate(runtime, memory)?;
            free.extend((0..BLOCK / PIECE).rev().map(|i| block + PIECE * i));
        }
        let address = free
            .pop()
            .ok_or(Failure::Status(hsa_status_t::ERROR_OUT_OF_RESOURCES))?;
        for (i, word) in (0u64..).zip(words) {
            // SAFETY: the piece is ours and large enough for every descriptor.
            unsafe { crate::memory::write(address + 4 * i, &word.to_ne_bytes()) };
        }
        Ok(address)
    }

    /// Takes a piece back.
    pub(crate) fn give(&self, address: u64) {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        free.push(address);
    }
}

fn allocate(runtime: RuntimeServicesRef<'static>, memory: MemoryServicesRef<'static>) -> Outcome<u64> {
    let mut devices = Vec::new();
    let mut pool = None;
    for agent in runtime.agents()? {
        if runtime.agent_kind(agent)? != AgentKind::CPU {
            devices.push(agent);
            continue;
        }
        for candidate in memory.pools(agent)? {
            let info = memory.pool_info(candidate)?;
            let fits =
                info.segment == GLOBAL && info.global_flags & FINE_GRAINED != 0 && info.allocation_allowed;
            if fits {
                pool.get_or_insert(candidate);
            }
        }
    }
    let pool = pool.ok_or(Failure::Status(hsa_status_t::ERROR_OUT_OF_RESOURCES))?;
    let block = memory.pool_allocate(pool, BLOCK, 0)?;
    memory.grant_access(devices.as_slice().into(), block)?;
    Ok(block)
}
