//! The HSA system clock: `CLOCK_BOOTTIME` in nanoseconds, as AMD's runtime uses it.

use rustix::time::{clock_gettime, ClockId};

/// Ticks per second of [`now`].
pub const HZ: u64 = 1_000_000_000;

/// The time (`HSA_SYSTEM_INFO_TIMESTAMP`).
#[must_use]
pub fn now() -> u64 {
    let time = clock_gettime(ClockId::Boottime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    seconds * HZ + u64::try_from(time.tv_nsec).unwrap_or(0)
}
