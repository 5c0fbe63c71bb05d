//! What the runtime gives a plugin. A plugin's whole view of the runtime is this table.
//!
//! Each shared object has its own copy of Rust's standard library, so logging, clocks, configuration and
//! threads come from here.

use super::event::DeviceEvent;
use crate::interface;
use abi_stable::std_types::{RStr, RString};
use abi_stable::StableAbi;

/// How loud a message is, with syslog's numbers as `HSA_DEBUG_LEVEL` uses them.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, StableAbi)]
pub struct LogLevel(pub u32);

impl LogLevel {
    /// Something does not work.
    pub const ERROR: Self = Self(3);
    /// Something may not work.
    pub const WARNING: Self = Self(4);
    /// One of the plugin's settings could not be used. The message begins with the setting's key and names the accepted
    /// form; the runtime shows it once, whatever the level is, with the file and line that the setting came from.
    pub const SETTING: Self = Self(5);
    /// Something happened.
    pub const INFO: Self = Self(6);
    /// Something for whoever looks for a fault.
    pub const DEBUG: Self = Self(7);
}

/// What a new thread runs.
#[repr(C)]
#[derive(Clone, Copy, Debug, StableAbi)]
pub struct ThreadEntry {
    /// The function. It must not panic.
    pub run: extern "C" fn(u64),
    /// Its argument.
    pub argument: u64,
}

interface! {
    /// The runtime, as a plugin sees it.
    pub trait Host, HostVTable, HostVTableRef, HostVTablePrefix, HostObject, HostRef {
        /// Logs a message under the plugin's name.
        fn log(level: LogLevel, message: RStr<'_>) -> ();
        /// The HSA system clock (HSA_SYSTEM_INFO_TIMESTAMP), in nanoseconds.
        fn now() -> u64;
        /// The plugin's part of the configuration (`[backend.NAME]` without its heading), as TOML text.
        fn configuration() -> RString;
        /// Starts a thread with a name and runs `entry` on it. The runtime ends nothing by itself: the
        /// plugin sees to it that its threads return before `close` does.
        fn spawn(name: RStr<'_>, entry: ThreadEntry) -> ();
        /// A device changed the value of the signal at this address (`amd_signal_t`); its waiters wake. Cheap
        /// when nobody waits.
        fn signal_changed(signal: u64) -> ();
        /// A device raised the event of this number (written to a signal's mailbox, or sent by a wave).
        fn event_raised(event: u32) -> ();
        /// A device reports a fault or its loss.
        fn device_event(event: &DeviceEvent) -> ();
    }
    optional {
        /// The number of threads that a software device should run kernels on.
        fn worker_threads() -> u32;
    }
    added {
    }
}
