//! Pools: allocating and freeing, beside what the system takes for as much, and what an address is.

use crate::client::{good, Client, Result};
use crate::report::{best_ns, Row};
use hansa_plugin_api::hsa::*;
use std::hint::black_box;
use std::ptr::null_mut;

type Allocate = unsafe extern "C" fn(hsa_amd_memory_pool_t, usize, u32, *mut *mut c_void) -> hsa_status_t;
type Free = unsafe extern "C" fn(*mut c_void) -> hsa_status_t;
type Info = unsafe extern "C" fn(
    *const c_void,
    *mut hsa_amd_pointer_info_t,
    PointerInfoAlloc,
    *mut u32,
    *mut *mut hsa_agent_t,
) -> hsa_status_t;

/// The functions of AMD's extension that are measured.
pub(crate) struct Functions {
    allocate: Allocate,
    free: Free,
    info: Info,
}

impl Functions {
    pub(crate) fn of(client: &Client) -> Result<Self> {
        // SAFETY: the types are those of AMD's header.
        let allocate = unsafe { client.function::<Allocate>(c"hsa_amd_memory_pool_allocate") }?;
        // SAFETY: as above.
        let free = unsafe { client.function::<Free>(c"hsa_amd_memory_pool_free") }?;
        // SAFETY: as above.
        let info = unsafe { client.function::<Info>(c"hsa_amd_pointer_info") }?;
        Ok(Self { allocate, free, info })
    }

    pub(crate) fn allocate(&self, pool: hsa_amd_memory_pool_t, bytes: usize) -> Result<*mut c_void> {
        let mut memory = null_mut();
        // SAFETY: a live pool and a variable of the right type.
        let status = unsafe { (self.allocate)(pool, bytes, 0, &raw mut memory) };
        good(status, "hsa_amd_memory_pool_allocate")?;
        Ok(memory)
    }

    pub(crate) fn free(&self, memory: *mut c_void) -> Result<()> {
        // SAFETY: what a pool gave, and nothing uses any more.
        good(unsafe { (self.free)(memory) }, "hsa_amd_memory_pool_free")
    }

    /// Nanoseconds of asking what an address is.
    pub(crate) fn info_ns(&self, count: u32, mut address: impl FnMut() -> *mut c_void) -> f64 {
        let size = u32::try_from(size_of::<hsa_amd_pointer_info_t>()).unwrap_or(0);
        best_ns(count, || {
            // SAFETY: all zeroes are a value of the structure.
            let mut info: hsa_amd_pointer_info_t = unsafe { std::mem::zeroed() };
            info.size = size;
            // SAFETY: any address may be asked for; `info` is a variable of the right type and says its size.
            unsafe { (self.info)(address(), &raw mut info, None, null_mut(), null_mut()) };
            black_box(info.sizeInBytes);
        })
    }

    /// Nanoseconds of allocating and freeing.
    pub(crate) fn pair_ns(&self, pool: hsa_amd_memory_pool_t, bytes: usize) -> Result<f64> {
        self.allocate(pool, bytes).and_then(|memory| self.free(memory))?;
        Ok(best_ns(2000, || {
            let mut memory = null_mut();
            // SAFETY: a live pool and a variable of the right type.
            unsafe { (self.allocate)(pool, bytes, 0, &raw mut memory) };
            // SAFETY: what the pool gave.
            unsafe { (self.free)(black_box(memory)) };
        }))
    }
}

/// The system's part of the same, in nanoseconds.
fn system_ns(bytes: usize) -> f64 {
    best_ns(2000, || {
        let usable = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new range at an address of the kernel's choice.
        let range = unsafe {
            libc::mmap(
                null_mut(),
                bytes,
                usable,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        // SAFETY: the range that was just made.
        unsafe { libc::munmap(black_box(range), bytes) };
    })
}

/// A region's pool has the region's handle.
pub(crate) const fn pool(region: hsa_region_t) -> hsa_amd_memory_pool_t {
    hsa_amd_memory_pool_t {
        handle: region.handle,
    }
}

/// Pairs of allocating and freeing, and what an address in one of very many allocations is.
pub(crate) fn pools(client: &Client) -> Result<Vec<Row>> {
    const PEER: &str = "mmap and munmap";
    let functions = Functions::of(client)?;
    let host = pool(client.host_region()?);
    let mut rows = Vec::new();
    let mut pair = |name, pool, bytes| -> Result<()> {
        let (ours, theirs) = (functions.pair_ns(pool, bytes)?, system_ns(bytes));
        rows.push(Row::against(name, ours, "ns", (PEER, theirs), 2.0, "under 2x"));
        Ok(())
    };
    pair("4 KiB of a host pool and back", host, 4 << 10)?;
    pair("64 KiB of a host pool and back", host, 64 << 10)?;
    if let Some(gpu) = client.gpu()? {
        if let Some(device) = client.region(gpu.agent, hsa_region_global_flag_t::COARSE_GRAINED.0)? {
            pair("4 KiB of a device pool and back", pool(device), 4 << 10)?;
            pair("64 KiB of a device pool and back", pool(device), 64 << 10)?;
        }
    }
    rows.push(pointer_info(&functions, host)?);
    Ok(rows)
}

/// Addresses in no order, in 100,000 allocations.
fn pointer_info(functions: &Functions, pool: hsa_amd_memory_pool_t) -> Result<Row> {
    const COUNT: usize = 100_000;
    let live: Vec<*mut c_void> = (0..COUNT)
        .map(|_| functions.allocate(pool, 4 << 10))
        .collect::<Result<_>>()?;
    let mut random = 1_u32;
    let time = functions.info_ns(100_000, || {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        live[random as usize % COUNT].wrapping_byte_add(100)
    });
    live.into_iter().try_for_each(|memory| functions.free(memory))?;
    Ok(Row::below(
        "pointer info, 100,000 allocations",
        time,
        "ns",
        120.0,
        "under 120 ns",
    ))
}
