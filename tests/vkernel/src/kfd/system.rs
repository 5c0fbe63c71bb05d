//! What is asked of the whole system or set for the whole process: version, clocks, apertures, modes.

use crate::debug::{exception, Runtime, Source};
use crate::kernel::Kernel;
use crate::machine::Gpu;
use crate::{smi, user, Answer, Errno};
use hansa_kfd::uapi::system as uapi;
use hansa_kfd::uapi::system::{
    GetClockCounters, GetProcessAperturesNew, GetTileConfig, GetVersion, ProcessDeviceApertures,
    RuntimeEnable, SetXnackMode, SmiEvents,
};
use std::os::fd::{AsRawFd, IntoRawFd};
use std::sync::Arc;

pub(super) fn get_version(kernel: &Arc<Kernel>, at: u64, bytes: usize) -> Answer {
    let answer = GetVersion {
        major_version: 1,
        minor_version: kernel.options.minor,
    };
    user::put(at, bytes, &answer)
}

/// Ticks of the device's clock are so many nanoseconds long.
pub const NANOSECONDS_PER_TICK: u64 = 10;

/// A clock's nanoseconds.
pub(crate) fn now(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the structure has room for the answer.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(time.tv_nsec).unwrap_or(0)
}

/// The device's clock.
#[must_use]
pub fn device_clock() -> u64 {
    now(libc::CLOCK_MONOTONIC) / NANOSECONDS_PER_TICK
}

pub(super) fn get_clock_counters(kernel: &Arc<Kernel>, at: u64, bytes: usize) -> Answer {
    let mut a: GetClockCounters = user::get(at, bytes)?;
    a.gpu_clock_counter = if kernel.gpu(a.gpu_id).is_ok() {
        device_clock()
    } else {
        0
    };
    a.cpu_clock_counter = now(libc::CLOCK_MONOTONIC_RAW);
    a.system_clock_counter = now(libc::CLOCK_BOOTTIME);
    a.system_clock_freq = 1_000_000_000;
    user::put(at, bytes, &a)
}

/// Where a GPU has group memory, private memory and the rest, each first and last address; then its number.
pub(super) fn apertures(gpu: &Gpu) -> [u64; 7] {
    let (lds, scratch) = if gpu.is_old {
        (1 << 61, (1 << 61) + (1 << 32))
    } else {
        (1 << 48, 2 << 48)
    };
    let one = ProcessDeviceApertures {
        lds_base: lds,
        lds_limit: lds | 0xffff_ffff,
        scratch_base: scratch,
        scratch_limit: scratch | 0xffff_ffff,
        gpuvm_base: 0x1000,
        gpuvm_limit: gpu.address_bytes - 1,
        gpu_id: gpu.gpu_id,
        pad: 0,
    };
    [
        one.lds_base,
        one.lds_limit,
        one.scratch_base,
        one.scratch_limit,
        one.gpuvm_base,
        one.gpuvm_limit,
        u64::from(one.gpu_id),
    ]
}

pub(super) fn get_apertures(kernel: &Arc<Kernel>, at: u64, bytes: usize) -> Answer {
    let mut a: GetProcessAperturesNew = user::get(at, bytes)?;
    let room = a.num_of_nodes as usize;
    let mut filled = 0;
    for gpu in kernel
        .machine
        .gpus
        .iter()
        .take(if room == 0 { usize::MAX } else { room })
    {
        if room != 0 {
            let words = apertures(gpu);
            let distance = filled * size_of::<ProcessDeviceApertures>() as u64;
            let to = a
                .kfd_process_device_apertures_ptr
                .checked_add(distance)
                .ok_or(Errno::FAULT)?;
            let flat: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
            user::write(to, &flat)?;
        }
        filled += 1;
    }
    a.num_of_nodes = u32::try_from(filled).unwrap_or(u32::MAX);
    user::put(at, bytes, &a)
}

pub(super) fn get_tile_config(kernel: &Arc<Kernel>, at: u64, bytes: usize) -> Answer {
    let mut a: GetTileConfig = user::get(at, bytes)?;
    kernel.gpu(a.gpu_id)?;
    a.num_tile_configs = 0;
    a.num_macro_tile_configs = 0;
    a.gb_addr_config = 0x2a11_4042;
    user::put(at, bytes, &a)
}

pub(super) fn set_xnack(kernel: &Arc<Kernel>, at: u64, bytes: usize) -> Answer {
    let mut a: SetXnackMode = user::get(at, bytes)?;
    let mut process = kernel.process();
    match a.xnack_enabled {
        ..0 => a.xnack_enabled = i32::from(process.xnack),
        wanted => {
            if wanted != 0 && !kernel.options.xnack {
                return Err(Errno::PERM);
            }
            if !process.queues.table.is_empty() {
                return Err(Errno::BUSY);
            }
            process.xnack = wanted != 0;
        }
    }
    drop(process);
    user::put(at, bytes, &a)
}

pub(super) fn runtime_enable(kernel: &Arc<Kernel>, at: u64, bytes: usize) -> Answer {
    let mut a: RuntimeEnable = user::get(at, bytes)?;
    if a.mode_mask & !3 != 0 {
        kernel.complain(format!("RUNTIME_ENABLE with mode {:#x}", a.mode_mask));
        return Err(Errno::INVAL);
    }
    let on = a.mode_mask & uapi::RUNTIME_ENABLE_MODE != 0;
    let mut process = kernel.process();
    if on && process.runtime.is_some() {
        return Err(Errno::BUSY);
    }
    if on && !process.queues.table.is_empty() {
        return Err(Errno::EXIST);
    }
    process.runtime = on.then_some(Runtime {
        r_debug: a.r_debug,
        ttmp: a.mode_mask & uapi::RUNTIME_ENABLE_TTMP != 0,
    });
    drop(process);
    // A debugger wants to know.
    kernel.exception(Source::Process, exception::PROCESS_RUNTIME);
    a.capabilities_mask = 0;
    user::put(at, bytes, &a)
}

/// Events of a device for system management, through a file of their own.
pub(super) fn smi_events(kernel: &Arc<Kernel>, at: u64, bytes: usize) -> Answer {
    let mut a: SmiEvents = user::get(at, bytes)?;
    let gpu = kernel.gpu(a.gpuid)?;
    let (file, client) = smi::open(gpu)?;
    a.anon_fd = u32::try_from(file.as_raw_fd()).map_err(|_| Errno::MFILE)?;
    user::put(at, bytes, &a)?;
    kernel.smi.lock().push(client);
    // The program's from now on.
    let _ = file.into_raw_fd();
    Ok(())
}

/// What saves and restores whole processes: nobody here may.
pub(super) fn criu(_kernel: &Arc<Kernel>, _at: u64, _bytes: usize) -> Answer {
    Err(Errno::ACCESS)
}
