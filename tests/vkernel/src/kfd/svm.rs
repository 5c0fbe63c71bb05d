//! Ranges of the process's memory that GPUs see without a buffer.

use super::memory::{check_range, show};
use crate::buffers::{Backing, Buffer};
use crate::kernel::Kernel;
use crate::process::Process;
use crate::ranges::{Attributes, Use, NOWHERE};
use crate::smi::{Event, MigrateTrigger, Pages};
use crate::{user, Answer, Errno};
use hansa_kfd::uapi::memory as uapi;
use hansa_kfd::uapi::memory::Svm;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Attributes.
mod kind {
    pub(super) const PREFERRED: u32 = 0;
    pub(super) const PREFETCH: u32 = 1;
    pub(super) const ACCESS: u32 = 2;
    pub(super) const IN_PLACE: u32 = 3;
    pub(super) const NO_ACCESS: u32 = 4;
    pub(super) const SET_FLAGS: u32 = 5;
    pub(super) const CLEAR_FLAGS: u32 = 6;
    pub(super) const GRANULARITY: u32 = 7;
}

/// Flags that there are.
const FLAGS: u32 = 0xff;
/// The device must not write.
const READ_ONLY: u32 = 8;
/// The host's place.
const HOST: u32 = 0;
/// Bytes of a request before its attributes.
const HEAD: usize = 24;
/// Largest granularity.
const MOST_GRANULARITY: u32 = 0x3f;

/// Sets or gets attributes of ranges. What has an effect here: the GPUs that may use a range see it, as far as they see
/// nothing there yet, and pages that are asked for on another side are said to move.
pub(super) fn svm(kernel: &Arc<Kernel>, at: u64, bytes: usize) -> Answer {
    let a: Svm = user::get(at, HEAD.min(bytes))?;
    let count = a.nattr as usize;
    if bytes != HEAD + count * 8
        || a.size == 0
        || !a.start_addr.is_multiple_of(kernel.options.page)
        || !a.size.is_multiple_of(kernel.options.page)
    {
        return Err(Errno::INVAL);
    }
    check_range(a.start_addr, a.size)?;
    let mut words = user::words(at + HEAD as u64, count * 2)?;
    let mut process = kernel.process();
    match a.op {
        uapi::SVM_OP_SET_ATTR => {
            for pair in words.chunks_exact(2) {
                check(kernel, &process, pair[0], pair[1])?;
            }
            is_there(&a)?;
            let mut moved = Vec::new();
            for pair in words.chunks_exact(2) {
                moved.extend(set(kernel, &mut process, &a, pair[0], pair[1])?);
            }
            drop(process);
            for (gpu, event) in moved {
                kernel.announce(gpu, 0, &event);
            }
            Ok(())
        }
        uapi::SVM_OP_GET_ATTR => {
            is_there(&a)?;
            let found = process.ranges.between(a.start_addr, a.start_addr + a.size);
            for pair in words.chunks_exact_mut(2) {
                get(kernel, &found, process.xnack, pair)?;
            }
            let flat: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
            user::write(at + HEAD as u64, &flat)
        }
        _ => Err(Errno::INVAL),
    }
}

/// Memory without a mapping has no attributes.
fn is_there(a: &Svm) -> Answer {
    let mut probe = [0];
    // Pages of a device that the program cannot read are there, too: only what is no address at all is refused.
    for at in [a.start_addr, a.start_addr + a.size - 1] {
        if user::read(at, &mut probe).is_err() && !is_mapped(at) {
            return Err(Errno::FAULT);
        }
    }
    Ok(())
}

/// Whether an address is in a mapping of the process.
fn is_mapped(at: u64) -> bool {
    let Ok(maps) = std::fs::read_to_string("/proc/self/maps") else {
        return true;
    };
    maps.lines().any(|line| {
        let range = line.split_ascii_whitespace().next().unwrap_or_default();
        let ends = range.split_once('-').and_then(|(start, end)| {
            let number = |text| u64::from_str_radix(text, 16).ok();
            Some((number(start)?, number(end)?))
        });
        ends.is_some_and(|(start, end)| (start..end).contains(&at))
    })
}

/// Checks an attribute that is to be set.
fn check(kernel: &Kernel, process: &Process, kind: u32, value: u32) -> Answer {
    match kind {
        kind::PREFERRED | kind::PREFETCH if value == HOST => Ok(()),
        // A place that is none can be preferred, and asked for by nobody.
        kind::PREFERRED if value == NOWHERE => Ok(()),
        kind::PREFERRED | kind::PREFETCH => kernel.gpu(value).map(drop),
        kind::ACCESS..=kind::NO_ACCESS => {
            let gpu = kernel.gpu(value)?;
            if process.spaces.contains_key(&gpu) {
                Ok(())
            } else {
                Err(Errno::NODEV)
            }
        }
        kind::SET_FLAGS | kind::CLEAR_FLAGS if value & !FLAGS == 0 => Ok(()),
        kind::GRANULARITY => Ok(()),
        _ => Err(Errno::INVAL),
    }
}

/// Sets an attribute that was checked. Answers what is to be told of, with the device.
fn set(
    kernel: &Kernel,
    process: &mut Process,
    a: &Svm,
    kind: u32,
    value: u32,
) -> Result<Vec<(usize, Event)>, Errno> {
    let (start, end) = (a.start_addr, a.start_addr + a.size);
    let mut moved = Vec::new();
    match kind {
        kind::PREFERRED => process.ranges.change(start, end, |all| all.preferred = value),
        kind::PREFETCH => {
            let before = process.ranges.between(start, end);
            let from = before.first().map_or(HOST, |first| match first.prefetch {
                NOWHERE => HOST,
                place => place,
            });
            let preferred = before.first().map_or(NOWHERE, |first| first.preferred);
            process.ranges.change(start, end, |all| all.prefetch = value);
            if from != value {
                let pages = Pages {
                    first: start / kernel.options.page,
                    count: a.size / kernel.options.page,
                };
                let trigger = MigrateTrigger::Prefetch;
                let (to, wanted, error) = (value, (value, preferred), 0);
                let gpu = kernel.gpu(if to == HOST { from } else { to })?;
                let start = Event::MigrateStart {
                    pages,
                    from,
                    to,
                    wanted,
                    trigger,
                };
                let end = Event::MigrateEnd {
                    pages,
                    from,
                    to,
                    trigger,
                    error,
                };
                moved = vec![(gpu, start), (gpu, end)];
            }
        }
        kind::ACCESS | kind::IN_PLACE => {
            let gpu = kernel.gpu(value)?;
            let how = if kind == kind::ACCESS {
                Use::Access
            } else {
                Use::InPlace
            };
            process.ranges.change(start, end, |all| {
                all.uses.insert(gpu, how);
            });
            let is_read_only = process
                .ranges
                .between(start, end)
                .iter()
                .any(|all| all.flags & READ_ONLY != 0);
            open(kernel, process, gpu, start, end, is_read_only);
        }
        kind::NO_ACCESS => {
            let gpu = kernel.gpu(value)?;
            process.ranges.change(start, end, |all| {
                all.uses.remove(&gpu);
            });
            close(kernel, process, gpu, start, end)?;
        }
        kind::SET_FLAGS => process.ranges.change(start, end, |all| all.flags |= value),
        kind::CLEAR_FLAGS => process.ranges.change(start, end, |all| all.flags &= !value),
        _ => process
            .ranges
            .change(start, end, |all| all.granularity = value.min(MOST_GRANULARITY)),
    }
    Ok(moved)
}

/// Lets a GPU see the parts of a range that it sees nothing in.
fn open(kernel: &Kernel, process: &mut Process, gpu: usize, start: u64, end: u64, is_read_only: bool) {
    for (from, to) in process.buffers.gaps(gpu, start, end) {
        let write = if is_read_only { 0 } else { uapi::ALLOC_WRITABLE };
        let buffer = Buffer {
            address: from,
            bytes: to - from,
            gpu,
            flags: uapi::ALLOC_USERPTR | uapi::ALLOC_EXECUTABLE | write,
            backing: Arc::new(Backing::User(from)),
            mapped: BTreeSet::from([gpu]),
            imported: false,
        };
        show(kernel, gpu, &buffer);
        let handle = process.buffers.enter(kernel.machine.gpus[gpu].gpu_id, buffer);
        process.shared_ranges.insert((gpu, from, to - from), handle);
    }
}

/// Takes a range away for a buffer.
pub(super) fn give_way(
    kernel: &Kernel,
    process: &mut Process,
    gpu: usize,
    (start, end): (u64, u64),
) -> Answer {
    process.ranges.remove(start, end);
    close(kernel, process, gpu, start, end)
}

/// Takes a range from a GPU; what it sees beside stays.
fn close(kernel: &Kernel, process: &mut Process, gpu: usize, start: u64, end: u64) -> Answer {
    let touched: Vec<_> = process
        .shared_ranges
        .range((gpu, 0, 0)..(gpu, end, 0))
        .map(|(key, handle)| (*key, *handle))
        .filter(|((_, from, bytes), _)| from + bytes > start)
        .collect();
    for (key @ (_, from, bytes), handle) in touched {
        process.shared_ranges.remove(&key);
        let buffer = process.buffers.get(handle)?;
        buffer.mapped.clear();
        let is_read_only = buffer.flags & uapi::ALLOC_WRITABLE == 0;
        process.buffers.remove(handle)?;
        if let Some(executor) = kernel.device.executor() {
            executor.forget(gpu, from, bytes);
        }
        for (part, stop) in [(from, start), (end, from + bytes)] {
            if part < stop {
                open(kernel, process, gpu, part, stop, is_read_only);
            }
        }
    }
    Ok(())
}

/// Answers an attribute for ranges together: a place that not all have is none, a flag is set or cleared in all.
fn get(kernel: &Kernel, found: &[&Attributes], xnack: bool, pair: &mut [u32]) -> Answer {
    let nothing = Attributes::default();
    let all = if found.is_empty() { &[&nothing][..] } else { found };
    let common = |place: fn(&Attributes) -> u32| {
        let first = place(all[0]);
        if all.iter().all(|one| place(one) == first) {
            first
        } else {
            NOWHERE
        }
    };
    match pair[0] {
        kind::PREFERRED => pair[1] = common(|one| one.preferred),
        kind::PREFETCH => pair[1] = common(|one| one.prefetch),
        kind::ACCESS..=kind::NO_ACCESS => {
            let gpu = kernel.gpu(pair[1])?;
            let uses: Vec<_> = all.iter().map(|one| one.uses.get(&gpu).copied()).collect();
            pair[0] = if uses.iter().all(|one| *one == Some(Use::Access)) || (xnack && found.is_empty()) {
                kind::ACCESS
            } else if uses.iter().all(|one| *one == Some(Use::InPlace)) {
                kind::IN_PLACE
            } else {
                kind::NO_ACCESS
            };
        }
        kind::SET_FLAGS => pair[1] = all.iter().fold(u32::MAX, |flags, one| flags & one.flags),
        kind::CLEAR_FLAGS => pair[1] = !all.iter().fold(0, |flags, one| flags | one.flags),
        kind::GRANULARITY => pair[1] = all.iter().map(|one| one.granularity).min().unwrap_or(0),
        _ => return Err(Errno::INVAL),
    }
    Ok(())
}
