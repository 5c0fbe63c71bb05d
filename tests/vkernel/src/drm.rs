//! Requests on a render node: what libdrm asks when it opens a device, and what drivers ask beside.

use crate::buffers::{Backing, Buffer};
use crate::exported::{self, Shared};
use crate::graphics;
use crate::kernel::Kernel;
use crate::kfd::{show, NANOSECONDS_PER_TICK};
use crate::{user, Answer, Errno};
use hansa_kfd::uapi::{drm, memory};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Letter of the group.
const GROUP: u8 = b'd';
/// Where the answer has the first address that graphics may use, and those of the upper half with their end.
const ADDRESSES: [(usize, u64); 3] = [
    (144, 0x20_0000),
    (336, 0xffff_8000_0020_0000),
    (344, 0xffff_ffff_ffe0_0000),
];
/// Where it has the end of the lower half, and the alignment of addresses.
const ADDRESSES_END: usize = 152;
const ADDRESS_ALIGNMENT: usize = 160;
/// Bytes of what there is to tell of a device.
const DEVICE_BYTES: usize = 368;
/// Queries of `AMDGPU_INFO`.
mod query {
    pub(super) const ACCEL_WORKING: u32 = 0x00;
    pub(super) const READ_MMR_REG: u32 = 0x15;
    pub(super) const DEV_INFO: u32 = 0x16;
}

fn number(code: u32) -> Option<u8> {
    let [number, group, ..] = code.to_le_bytes();
    (group == GROUP).then_some(number)
}

/// The name of a request.
pub(crate) fn name(code: u32) -> Option<&'static str> {
    match number(code)? {
        0x00 => Some("VERSION"),
        0x09 => Some("GEM_CLOSE"),
        0x2d => Some("PRIME_HANDLE_TO_FD"),
        0x2e => Some("PRIME_FD_TO_HANDLE"),
        0x40 => Some("AMDGPU_GEM_CREATE"),
        0x41 => Some("AMDGPU_GEM_MMAP"),
        0x42 => Some("AMDGPU_CTX"),
        0x43 => Some("AMDGPU_BO_LIST"),
        0x44 => Some("AMDGPU_CS"),
        0x46 => Some("AMDGPU_GEM_METADATA"),
        0x48 => Some("AMDGPU_GEM_VA"),
        0x49 => Some("AMDGPU_WAIT_CS"),
        0x45 => Some("AMDGPU_INFO"),
        _ => None,
    }
}

/// Answers a request.
pub(crate) fn answer(kernel: &Arc<Kernel>, gpu: usize, code: u32, at: u64) -> Answer {
    let size = (code >> 16 & 0x3fff) as usize;
    match number(code) {
        Some(0x00) => version(at),
        Some(0x09) => close(kernel, gpu, at, size),
        Some(0x2d) => graphics::hand_over(kernel, gpu, at),
        Some(0x2e) => take(kernel, gpu, at, size),
        Some(0x40) => graphics::create(kernel, gpu, at),
        Some(0x41) => place_in_file(kernel, gpu, at, size),
        Some(0x42) => graphics::context(kernel, at),
        Some(0x43) => graphics::list(kernel, gpu, at),
        Some(0x44) => graphics::submit(kernel, gpu, at),
        Some(0x46) => graphics::metadata(kernel, gpu, at),
        Some(0x48) => map(kernel, gpu, at, size),
        Some(0x49) => graphics::wait(kernel, at),
        Some(0x45) => info(kernel, gpu, at),
        _ => Err(Errno::NOTTY),
    }
}

fn word(at: u64) -> Result<u64, Errno> {
    let mut bytes = [0; 8];
    user::read(at, &mut bytes)?;
    Ok(u64::from_ne_bytes(bytes))
}

/// `drm_version`: three numbers, then name, date and description, each a length and an address. The lengths are
/// answered always, the texts when there is room.
fn version(at: u64) -> Answer {
    for (i, value) in [3_u32, 47, 0].into_iter().enumerate() {
        user::write(at + i as u64 * 4, &value.to_ne_bytes())?;
    }
    for (i, text) in ["amdgpu", "20150101", "AMD GPU"].into_iter().enumerate() {
        let length_at = at + 16 + i as u64 * 16;
        let room = usize::try_from(word(length_at)?).unwrap_or(0);
        let to = word(length_at + 8)?;
        if to != 0 {
            user::write(to, &text.as_bytes()[..room.min(text.len())])?;
        }
        user::write(length_at, &(text.len() as u64).to_ne_bytes())?;
    }
    Ok(())
}

/// Family of a chip in the graphics driver.
const fn family(version: u32) -> u32 {
    match version / 10_000 {
        8 => 130,
        9 => 141,
        10 => 143,
        11 => 145,
        _ => 152,
    }
}

fn info(kernel: &Kernel, gpu: usize, at: u64) -> Answer {
    let to = word(at)?;
    let head = user::words(at + 8, 2)?;
    let (room, query) = (head[0] as usize, head[1]);
    let described = kernel.machine.gpus[gpu];
    let mut answer = match query {
        query::ACCEL_WORKING => 1_u32.to_ne_bytes().to_vec(),
        query::READ_MMR_REG => {
            let registers = user::words(at + 20, 1)?[0];
            vec![0; registers.min(64) as usize * 4]
        }
        query::DEV_INFO => {
            let frequency = u32::try_from(1_000_000 / NANOSECONDS_PER_TICK).unwrap_or(0);
            let words = [
                described.device_id,
                0,
                0,
                described.revision,
                family(described.version),
                4,
                1,
                frequency,
            ];
            let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
            bytes.resize(DEVICE_BYTES, 0);
            let mut put = |at: usize, value: u64| bytes[at..at + 8].copy_from_slice(&value.to_ne_bytes());
            put(
                std::mem::offset_of!(drm::DeviceInfo, ids_flags),
                described.ids_flags,
            );
            for (at, address) in ADDRESSES {
                put(at, address);
            }
            put(ADDRESSES_END, described.address_bytes);
            put(ADDRESS_ALIGNMENT, 4096);
            bytes
        }
        other => {
            kernel.complain(format!("AMDGPU_INFO query {other:#x}"));
            return Err(Errno::INVAL);
        }
    };
    answer.truncate(room);
    user::write(to, &answer)
}

/// Buffers that the graphics driver knows of, and where parts of them are.
#[derive(Debug, Default)]
pub struct Gems {
    /// By GPU and name.
    pub(crate) table: BTreeMap<(usize, u32), Shared>,
    /// Those that graphics made.
    pub(crate) own: BTreeSet<(usize, u32)>,
    /// By GPU and address: the name, and the handle of what stands for the part.
    places: BTreeMap<(usize, u64), (u32, u64)>,
}

/// Names the memory of a file. One memory has one name.
fn take(kernel: &Arc<Kernel>, gpu: usize, at: u64, bytes: usize) -> Answer {
    let mut a: drm::PrimeHandle = user::get(at, bytes)?;
    let shared = exported::of_file(kernel, a.fd)?;
    let mut process = kernel.process();
    let gems = &mut process.gems;
    let known = gems
        .table
        .iter()
        .find(|((of, _), known)| *of == gpu && Arc::ptr_eq(&known.backing, &shared.backing))
        .map(|((_, name), _)| *name);
    a.handle = known.map_or_else(|| gems.free_name(gpu), Ok)?;
    gems.table.insert((gpu, a.handle), shared);
    drop(process);
    user::put(at, bytes, &a)
}

/// Where memory is in the file of the render node. Memory of another GPU, or of another process, is in none of this one's.
fn place_in_file(kernel: &Arc<Kernel>, gpu: usize, at: u64, bytes: usize) -> Answer {
    let mut a: drm::GemMmap = user::get(at, bytes)?;
    let name = u32::try_from(a.word & 0xffff_ffff).map_err(|_| Errno::NOENT)?;
    let process = kernel.process();
    let shared = process.gems.table.get(&(gpu, name)).ok_or(Errno::NOENT)?;
    match *shared.backing {
        Backing::File { gpu: of, offset, .. } if of == gpu => a.word = offset,
        _ => return Err(Errno::PERM),
    }
    drop(process);
    user::put(at, bytes, &a)
}

/// Forgets a name, with all places of the memory.
fn close(kernel: &Arc<Kernel>, gpu: usize, at: u64, bytes: usize) -> Answer {
    let a: drm::GemClose = user::get(at, bytes)?;
    let mut process = kernel.process();
    let shared = process.gems.table.remove(&(gpu, a.handle)).ok_or(Errno::INVAL)?;
    process.gems.own.remove(&(gpu, a.handle));
    let mut places = std::mem::take(&mut process.gems.places);
    places.retain(|(of, _), (name, handle)| {
        let goes = *of == gpu && *name == a.handle;
        if goes {
            forget(kernel, &mut process.buffers, gpu, *handle);
        }
        !goes
    });
    process.gems.places = places;
    drop(process);
    Backing::release(kernel, shared.backing);
    Ok(())
}

fn forget(kernel: &Kernel, buffers: &mut crate::buffers::Buffers, gpu: usize, handle: u64) {
    if let Ok(buffer) = buffers.get(handle) {
        buffer.mapped.clear();
    }
    if let Ok(buffer) = buffers.remove(handle) {
        if let Some(executor) = kernel.device.executor() {
            executor.forget(gpu, buffer.address, buffer.bytes);
        }
        Backing::release(kernel, buffer.backing);
    }
}

/// Puts a part of memory at an address, or takes it away.
fn map(kernel: &Arc<Kernel>, gpu: usize, at: u64, bytes: usize) -> Answer {
    /// The smallest page of a device, whatever the host's are.
    const PAGE: u64 = 4096;
    let a: drm::GemVa = user::get(at, bytes)?;
    let good = drm::VA_READABLE | drm::VA_WRITEABLE | drm::VA_EXECUTABLE;
    let misplaced = [a.va_address, a.offset_in_bo, a.map_size]
        .iter()
        .any(|value| value % PAGE != 0);
    if a.flags & !good != 0 || a.map_size == 0 || misplaced {
        kernel.complain(format!("AMDGPU_GEM_VA with {a:?}"));
        return Err(Errno::INVAL);
    }
    let mut process = kernel.process();
    let shared = process
        .gems
        .table
        .get(&(gpu, a.handle))
        .cloned()
        .ok_or(Errno::NOENT)?;
    let key = (gpu, a.va_address);
    match a.operation {
        drm::VA_MAP => {
            if a.offset_in_bo
                .checked_add(a.map_size)
                .is_none_or(|end| end > shared.bytes)
                || a.va_address
                    .checked_add(a.map_size)
                    .is_none_or(|end| end > kernel.machine.gpus[gpu].address_bytes)
                || process.buffers.is_taken(gpu, 0, a.va_address, a.map_size)
            {
                return Err(Errno::INVAL);
            }
            let is_own = process.gems.own.contains(&(gpu, a.handle));
            if !is_own && !process.spaces.contains_key(&gpu) {
                return Err(Errno::NODEV);
            }
            let mut flags = memory::ALLOC_VRAM;
            for (given, flag) in [
                (drm::VA_WRITEABLE, memory::ALLOC_WRITABLE),
                (drm::VA_EXECUTABLE, memory::ALLOC_EXECUTABLE),
            ] {
                if a.flags & given != 0 {
                    flags |= flag;
                }
            }
            let buffer = Buffer {
                address: a.va_address,
                bytes: a.map_size,
                gpu,
                flags,
                backing: Arc::new(Backing::Part {
                    of: shared.backing,
                    offset: a.offset_in_bo,
                }),
                mapped: BTreeSet::from([gpu]),
                imported: true,
            };
            // Nothing but commands of graphics uses its own memory at the addresses that it chose.
            if !is_own {
                show(kernel, gpu, &buffer);
            }
            let handle = process.buffers.enter(kernel.machine.gpus[gpu].gpu_id, buffer);
            process.gems.places.insert(key, (a.handle, handle));
            Ok(())
        }
        drm::VA_UNMAP => {
            let (name, handle) = process.gems.places.remove(&key).ok_or(Errno::NOENT)?;
            if name != a.handle {
                process.gems.places.insert(key, (name, handle));
                return Err(Errno::NOENT);
            }
            forget(kernel, &mut process.buffers, gpu, handle);
            Ok(())
        }
        other => {
            kernel.complain(format!("AMDGPU_GEM_VA with operation {other}"));
            Err(Errno::INVAL)
        }
    }
}
