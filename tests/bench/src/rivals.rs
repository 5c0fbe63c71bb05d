//! AMD's runtime and this one on the same virtual device, in turns.
//!
//! Two runtimes in one process would share the kernel's state of it, so each run is a process of its own:
//! `hansa bench --pace LIBRARY` with the virtual kernel preloaded ([`crate::pace`]).

use crate::client::Result;
use crate::pace::{middle, time, Times};
use crate::report::Row;
use std::path::{Path, PathBuf};
use std::process::Command;

/// AMD's runtime, where Debian puts it.
pub(crate) const THEIRS: &str = "/usr/lib/x86_64-linux-gnu/libhsa-runtime64.so.1";
const PRELOAD: &str = "libhansa_vkernel_preload.so";
const ROUNDS: usize = 3;

/// A unit, and how many of it a microsecond has.
type Unit = (&'static str, f64);
const NS: Unit = ("ns", 1e3);
const US: Unit = ("us", 1.0);

type Rival = (&'static str, &'static str, Unit, f64, &'static str);

/// What [`crate::pace`] calls it and what the table does, the unit, the most that ours may take of their time, and that
/// as text.
///
/// Some of it is in both and no runtime's: the processor's locked addition is 5.0 of the 5.6 and 5.8 ns of
/// `hsa_signal_add_relaxed` on one of the processors where that was measured (on another it is quicker); and the system takes
/// as long to wake a thread for the one as for the other, unless the thread is up already because it knew when. A round trip is
/// mostly the virtual device's: it reads rings and signals of the kernel's memory, which this runtime has, as a device does, and
/// asks the system for each word of a user's, which AMD's has.
const ROWS: [Rival; 18] = [
    ("hsa_init", "hsa_init", US, 0.7, "at most 0.7"),
    (
        "signal_create",
        "signal create and destroy",
        NS,
        1.0,
        "at most 1.0",
    ),
    (
        "pool_host",
        "64 KiB of a host pool and back",
        NS,
        1.0,
        "at most 1.0",
    ),
    (
        "pool_device",
        "64 KiB of a device pool and back",
        NS,
        1.0,
        "at most 1.0",
    ),
    ("queue_create", "queue create and destroy", US, 1.0, "at most 1.0"),
    (
        "round_trip",
        "barrier packet there and back",
        US,
        0.8,
        "at most 0.8",
    ),
    (
        "wake_up",
        "sleeper awake after a packet, every 20 ms",
        US,
        0.7,
        "at most 0.7",
    ),
    (
        "wake_up_irregular",
        "sleeper awake after a packet, 8 to 32 ms",
        US,
        1.5,
        "at most 1.5: the system's wake-up",
    ),
    ("copy_4k_to", "copy 4 KiB to the device", US, 0.8, "at most 0.8"),
    (
        "copy_4k_from",
        "copy 4 KiB from the device",
        US,
        0.8,
        "at most 0.8",
    ),
    ("copy_64m_to", "copy 64 MiB to the device", US, 1.0, "at most 1.0"),
    (
        "copy_64m_from",
        "copy 64 MiB from the device",
        US,
        1.0,
        "at most 1.0",
    ),
    ("agent_get_info", "hsa_agent_get_info", NS, 0.8, "at most 0.8"),
    ("pointer_info", "hsa_amd_pointer_info", NS, 0.8, "at most 0.8"),
    ("signal_load", "hsa_signal_load_relaxed", NS, 0.8, "at most 0.8"),
    ("signal_store", "hsa_signal_store_relaxed", NS, 0.8, "at most 0.8"),
    (
        "signal_add",
        "hsa_signal_add_relaxed",
        NS,
        0.8,
        "at most 0.8, less than a locked addition",
    ),
    (
        "code_load",
        "code object loaded and unloaded",
        US,
        0.7,
        "at most 0.7",
    ),
];

/// Measures the runtime in `library`, on the KFD backend, beside AMD's; `this` is the program whose `bench --pace` is [`crate::pace`].
///
/// # Errors
///
/// What is missing, and which run failed.
pub(crate) fn rows(library: &Path, this: &Path) -> Result<Vec<Row>> {
    let preload = preload(library)?;
    let theirs = Path::new(THEIRS);
    let kfd = |command: &mut Command| {
        on_virtual_device(command, &preload);
        command.env("HANSA_BACKENDS", "kfd");
    };
    let (mut ours, mut others) = (Times::new(), Times::new());
    for _ in 0..ROUNDS {
        time(this, library, &kfd, &mut ours)?;
        time(this, theirs, &kfd, &mut others)?;
    }
    let row = |&(key, name, (unit, scale), most, goal): &Rival| {
        let (a, b) = (middle(ours.get(key))?, middle(others.get(key))?);
        let theirs = ("AMD's runtime", b * scale);
        Some(Row::against(name, a * scale, unit, theirs, most, goal))
    };
    Ok(ROWS.iter().filter_map(row).collect())
}

/// The library with the virtual kernel, beside the runtime in `library`.
///
/// # Errors
///
/// It is missing, or AMD's runtime is.
pub(crate) fn preload(library: &Path) -> Result<PathBuf> {
    let preload = library.with_file_name(PRELOAD);
    for (needed, advice) in [
        (
            preload.as_path(),
            "cargo build --release -p hansa-vkernel-preload",
        ),
        (Path::new(THEIRS), "apt-get install libhsa-runtime64-1"),
    ] {
        if !needed.exists() {
            return Err(format!("{} is not there: {advice}", needed.display()));
        }
    }
    Ok(preload)
}

/// Has a program find a virtual device.
pub(crate) fn on_virtual_device(command: &mut Command, preload: &Path) {
    command
        .env("LD_PRELOAD", preload)
        .env("VKERNEL_MACHINE", "gfx900")
        // AMD's runtime of Debian makes its queues as before Linux 6.12.
        .env("VKERNEL_STRICT", "0");
}
