//! Requests of debuggers: one number with operations (Linux: `kfd_chardev.c`, `kfd_debug.c`).
//!
//! A process may debug itself, which is how run-times write core files. A kernel here has one process; that another one is
//! debugged is complained of.

use crate::debug::{hold, mask, tell_runtime, Attached};
use crate::kernel::Kernel;
use crate::process::Process;
use crate::{user, Answer, Errno};
use hansa_kfd::topology::{Properties, ROOT};
use std::path::Path;
use std::sync::Arc;

/// Operations.
mod op {
    pub(super) const ENABLE: u32 = 0;
    pub(super) const DISABLE: u32 = 1;
    pub(super) const SEND_RUNTIME_EVENT: u32 = 2;
    pub(super) const SET_EXCEPTIONS: u32 = 3;
    pub(super) const SET_OVERRIDE: u32 = 4;
    pub(super) const SET_LAUNCH_MODE: u32 = 5;
    pub(super) const SUSPEND: u32 = 6;
    pub(super) const RESUME: u32 = 7;
    pub(super) const SET_WATCH: u32 = 8;
    pub(super) const CLEAR_WATCH: u32 = 9;
    pub(super) const SET_FLAGS: u32 = 10;
    pub(super) const QUERY_EVENT: u32 = 11;
    pub(super) const QUERY_INFO: u32 = 12;
    pub(super) const QUEUES: u32 = 13;
    pub(super) const DEVICES: u32 = 14;
}

/// Traps that can be on beside those of the code (gfx9).
const TRAPS: u32 = 0xff;
/// Registers for watched addresses of a device.
const WATCHES: u32 = 4;
/// The bit of a queue in an array of queues that is none, or is new.
const NO_QUEUE: u32 = 1 << 31;
/// Most queues in an array.
const MOST_QUEUES: usize = 4096;

/// The argument: process and operation, then what the operation takes.
struct Argument {
    at: u64,
    process: u32,
    operation: u32,
    words: [u32; 6],
}

impl Argument {
    const WORDS: usize = 8;

    fn read(at: u64, bytes: usize) -> Result<Self, Errno> {
        let mut all = user::words(at, (bytes / 4).min(Self::WORDS))?;
        all.resize(Self::WORDS, 0);
        let mut words = [0; 6];
        words.copy_from_slice(&all[2..]);
        Ok(Self {
            at,
            process: all[0],
            operation: all[1],
            words,
        })
    }

    const fn wide(&self, word: usize) -> u64 {
        self.words[word] as u64 | (self.words[word + 1] as u64) << 32
    }

    /// Answers words of what the operation takes.
    fn put(&self, word: usize, values: &[u32]) -> Answer {
        let flat: Vec<u8> = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
        user::write(self.at + 8 + word as u64 * 4, &flat)
    }
}

fn halves(value: u64) -> [u32; 2] {
    hansa_kfd::event::halves(value)
}

pub(super) fn trap(kernel: &Arc<Kernel>, at: u64, bytes: usize) -> Result<i32, Errno> {
    let a = Argument::read(at, bytes)?;
    if a.operation > op::DEVICES {
        kernel.complain(format!("DBG_TRAP with operation {}", a.operation));
        return Err(Errno::INVAL);
    }
    // SAFETY: takes nothing and cannot fail.
    if i64::from(unsafe { libc::getpid() }) != i64::from(a.process) {
        let process = i32::try_from(a.process).map_err(|_| Errno::SRCH)?;
        // SAFETY: signal 0 only asks whether there is such a process.
        if process == 0 || unsafe { libc::kill(process, 0) } != 0 {
            return Err(Errno::SRCH);
        }
        kernel.complain(format!("DBG_TRAP on another process, {process}"));
        return Err(Errno::PERM);
    }
    let mut process = kernel.process();
    if a.operation != op::ENABLE && process.debug.attached.is_none() {
        return Err(Errno::INVAL);
    }
    if (op::SET_OVERRIDE..=op::CLEAR_WATCH).contains(&a.operation) && process.runtime.is_none() {
        return Err(Errno::PERM);
    }
    match a.operation {
        op::ENABLE => enable(kernel, &mut process, &a),
        op::DISABLE => {
            for (id, queue) in &mut process.queues.table {
                if std::mem::take(&mut queue.suspended) {
                    kernel.device.pause(*id, queue.rests);
                }
            }
            process.debug.attached = None;
            process.debug.watches.clear();
            (process.debug.flags, process.debug.traps) = (0, 0);
            Ok(())
        }
        op::SEND_RUNTIME_EVENT => send(kernel, process, &a),
        op::SET_EXCEPTIONS => {
            if let Some(debugger) = &mut process.debug.attached {
                debugger.wanted = a.wide(0);
            }
            Ok(())
        }
        op::SET_OVERRIDE => set_override(&mut process, &a),
        // Waves begin, halt, or are single-stepped: nothing here shows a debugger a wave.
        op::SET_LAUNCH_MODE if matches!(a.words[0], 0 | 1 | 3) => Ok(()),
        op::SUSPEND | op::RESUME => return suspend(kernel, &mut process, &a),
        op::SET_WATCH => set_watch(kernel, &mut process, &a),
        op::CLEAR_WATCH => {
            let gpu = kernel.gpu(a.words[0]).map_err(|_| Errno::NODEV)?;
            let known = process.debug.watches.remove(&(gpu, a.words[1]));
            known.then_some(()).ok_or(Errno::INVAL)
        }
        op::SET_FLAGS if a.words[0] & !1 == 0 => {
            let before = std::mem::replace(&mut process.debug.flags, a.words[0]);
            a.put(0, &[before])
        }
        op::QUERY_EVENT => query_event(kernel, &mut process, &a),
        op::QUERY_INFO => query_info(kernel, &mut process, &a),
        op::QUEUES => queues(kernel, &mut process, &a),
        op::DEVICES => devices(kernel, &mut process, &a),
        _ => Err(Errno::INVAL),
    }
    .map(|()| 0)
}

/// The run-time, as debuggers see it.
fn runtime_info(process: &Process) -> [u8; 16] {
    let runtime = process.runtime;
    let [low, high] = halves(runtime.map_or(0, |runtime| runtime.r_debug));
    let ttmp = runtime.is_some_and(|runtime| runtime.ttmp);
    let mut bytes = [0; 16];
    for (to, word) in bytes
        .chunks_exact_mut(4)
        .zip([low, high, runtime.is_some().into(), ttmp.into()])
    {
        to.copy_from_slice(&word.to_ne_bytes());
    }
    bytes
}

fn enable(kernel: &Kernel, process: &mut Process, a: &Argument) -> Answer {
    if process.debug.attached.is_some() {
        return Err(Errno::ALREADY);
    }
    if kernel.machine.gpus.iter().any(|gpu| gpu.is_old) {
        return Err(Errno::NODEV);
    }
    let file = hold(a.words[5])?;
    let info = runtime_info(process);
    let bytes = (a.words[4] as usize).min(info.len());
    user::write(a.wide(2), &info[..bytes])?;
    a.put(4, &[u32::try_from(info.len()).unwrap_or(0)])?;
    process.debug.attached = Some(Attached {
        file,
        wanted: a.wide(0),
    });
    Ok(())
}

/// Passes exceptions on to the run-time.
fn send(kernel: &Kernel, process: hansa_plugin_api::sync::MutexGuard<'_, Process>, a: &Argument) -> Answer {
    let (exceptions, id) = (a.wide(0), a.words[3]);
    if exceptions & (mask(32) - 1) == 0 {
        // Those of devices and the process have events of their own.
        return Ok(());
    }
    let queue = process.queues.table.get(&id).ok_or(Errno::INVAL)?;
    let told = tell_runtime(queue, exceptions & (mask(32) - 1));
    drop(process);
    kernel.raise(told.ok_or(Errno::INVAL)?);
    Ok(())
}

fn set_override(process: &mut Process, a: &Argument) -> Answer {
    let [mode, enable, support, ..] = a.words;
    if mode > 1 {
        return Err(Errno::INVAL);
    }
    // What can be is answered in any case.
    a.put(1, &[process.debug.traps, TRAPS])?;
    if support & !TRAPS != 0 {
        return Err(Errno::ACCESS);
    }
    process.debug.traps = if mode == 0 {
        process.debug.traps | enable & support
    } else {
        process.debug.traps & !support | enable & support
    };
    Ok(())
}

/// Stops queues or lets them go on; answers how many.
fn suspend(kernel: &Kernel, process: &mut Process, a: &Argument) -> Result<i32, Errno> {
    let stop = a.operation == op::SUSPEND;
    let (clear, array, count) = if stop {
        (a.wide(0), a.wide(2), a.words[4])
    } else {
        (0, a.wide(0), a.words[2])
    };
    if count as usize > MOST_QUEUES {
        return Err(Errno::INVAL);
    }
    let mut ids = user::words(array, count as usize)?;
    let mut done = 0;
    for id in &mut ids {
        let queue = process.queues.table.get_mut(id);
        let Some(queue) = queue.filter(|q| q.exceptions & mask(crate::debug::exception::QUEUE_NEW) == 0)
        else {
            *id |= NO_QUEUE;
            continue;
        };
        queue.suspended = stop;
        queue.exceptions &= !clear;
        kernel.device.pause(*id, stop || queue.rests);
        done += 1;
    }
    let flat: Vec<u8> = ids.iter().flat_map(|id| id.to_ne_bytes()).collect();
    user::write(array, &flat)?;
    Ok(done)
}

fn set_watch(kernel: &Kernel, process: &mut Process, a: &Argument) -> Answer {
    let gpu = kernel.gpu(a.words[4]).map_err(|_| Errno::NODEV)?;
    if a.words[2] > 3 {
        return Err(Errno::INVAL);
    }
    let free = (0..WATCHES).find(|id| !process.debug.watches.contains(&(gpu, *id)));
    let id = free.ok_or(Errno::NOMEM)?;
    a.put(5, &[id])?;
    process.debug.watches.insert((gpu, id));
    Ok(())
}

/// The first who has exceptions that the debugger wants.
fn query_event(kernel: &Kernel, process: &mut Process, a: &Argument) -> Answer {
    let wanted = process
        .debug
        .attached
        .as_ref()
        .map_or(0, |debugger| debugger.wanted);
    let clear = a.wide(0);
    let answer = |exceptions: &mut u64, gpu_id: u32, queue: u32| {
        let [low, high] = halves(*exceptions);
        *exceptions &= !clear;
        a.put(0, &[low, high, gpu_id, queue])
    };
    let queue = process
        .queues
        .table
        .iter_mut()
        .find(|(_, queue)| queue.exceptions & wanted != 0);
    if let Some((id, queue)) = queue {
        return answer(&mut queue.exceptions, kernel.machine.gpus[queue.gpu].gpu_id, *id);
    }
    let mut devices = process.debug.devices.iter_mut();
    if let Some((gpu, exceptions)) = devices.find(|(_, exceptions)| **exceptions & wanted != 0) {
        return answer(exceptions, kernel.machine.gpus[*gpu].gpu_id, 0);
    }
    if process.debug.process & wanted != 0 {
        return answer(&mut process.debug.process, 0, 0);
    }
    Err(Errno::AGAIN)
}

/// What goes with an exception.
fn query_info(kernel: &Kernel, process: &mut Process, a: &Argument) -> Answer {
    let [.., source, code, clear] = a.words;
    if code == 0 || code > 64 {
        return Err(Errno::INVAL);
    }
    let bit = mask(code);
    let (exceptions, info) = match code {
        1..=31 => (&mut process.queues.get(source)?.exceptions, Vec::new()),
        32..=47 => {
            let gpu = kernel.gpu(source).map_err(|_| Errno::NODEV)?;
            (process.debug.devices.entry(gpu).or_insert(0), Vec::new())
        }
        _ => {
            let info = runtime_info(process).to_vec();
            (&mut process.debug.process, info)
        }
    };
    if *exceptions & bit == 0 {
        return Err(Errno::NODATA);
    }
    let bytes = (a.words[2] as usize).min(info.len());
    user::write(a.wide(0), &info[..bytes])?;
    if clear != 0 {
        *exceptions &= !bit;
    }
    a.put(2, &[u32::try_from(info.len()).unwrap_or(0)])
}

/// Copies entries out, each as much of it as was asked for, and answers how many there are.
fn snapshot(a: &Argument, entries: &[Vec<u32>]) -> Answer {
    let (room, step) = (a.words[4] as usize, a.words[5] as usize);
    if step == 0 {
        return Err(Errno::INVAL);
    }
    let full = entries.first().map_or(step, |entry| entry.len() * 4);
    for (i, entry) in entries.iter().take(room).enumerate() {
        let flat: Vec<u8> = entry.iter().flat_map(|word| word.to_ne_bytes()).collect();
        let to = a.wide(2).checked_add((i * step) as u64).ok_or(Errno::FAULT)?;
        user::write(to, &flat[..step.min(flat.len())])?;
    }
    let number = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
    a.put(4, &[number(entries.len()), number(step.min(full))])
}

fn queues(kernel: &Kernel, process: &mut Process, a: &Argument) -> Answer {
    let clear = a.wide(0);
    let room = a.words[4] as usize;
    let mut entries = Vec::new();
    for (i, (id, queue)) in process.queues.table.iter_mut().enumerate() {
        let request = &queue.request;
        let mut entry = Vec::new();
        for wide in [
            queue.exceptions,
            request.ring_base_address,
            request.write_pointer_address,
            request.read_pointer_address,
            request.ctx_save_restore_address,
        ] {
            entry.extend(halves(wide));
        }
        let gpu_id = kernel.machine.gpus[queue.gpu].gpu_id;
        let area = request.ctx_save_restore_size;
        entry.extend([*id, gpu_id, request.ring_size, request.queue_type, area, 0]);
        entries.push(entry);
        // Who only counts them clears nothing.
        if i < room {
            queue.exceptions &= !clear;
        }
    }
    snapshot(a, &entries)
}

fn devices(kernel: &Kernel, process: &mut Process, a: &Argument) -> Answer {
    if a.words[4] == 0 {
        return Err(Errno::INVAL);
    }
    let clear = a.wide(0);
    let mut entries = Vec::new();
    for (index, gpu) in kernel.machine.gpus.iter().enumerate() {
        let exceptions = process.debug.devices.entry(index).or_insert(0);
        let at = Path::new(ROOT).join(format!("nodes/{}/properties", gpu.node));
        let properties = Properties::parse(kernel.machine.tree.file(&at).unwrap_or_default());
        let mut entry = Vec::new();
        entry.extend(halves(*exceptions));
        for wide in super::system::apertures(gpu).into_iter().take(6) {
            entry.extend(halves(wide));
        }
        entry.push(gpu.gpu_id);
        for name in ["location_id", "vendor_id", "device_id"] {
            entry.push(properties.get(name));
        }
        // Neither revision nor the numbers of who built the board are in the topology.
        entry.extend([0, 0, 0]);
        for name in [
            "fw_version",
            "gfx_target_version",
            "simd_count",
            "max_waves_per_simd",
            "array_count",
            "simd_arrays_per_engine",
            "num_xcc",
            "capability",
            "debug_prop",
        ] {
            entry.push(properties.get(name));
        }
        entries.push(entry);
        *exceptions &= !clear;
    }
    snapshot(a, &entries)
}
