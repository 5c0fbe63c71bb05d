//! The host's own floating-point state.
//!
//! Handlers compute with the host's arithmetic in its usual state: round to nearest, denormals kept, no traps; what the
//! MODE register asks for beyond that they do themselves. A thread inherits the state of the one that made it, and a
//! program may have another one (compiled with `-ffast-math`, it flushes denormals; `feenableexcept` makes it trap).

use std::arch::asm;

/// MXCSR after reset: all exceptions masked, round to nearest, denormals kept (Intel SDM volume 1, 10.2.3).
const USUAL: u32 = 0x1f80;

/// Gives the calling thread the usual state, and its own back in the end.
#[derive(Debug)]
pub struct FloatState(u32);

impl FloatState {
    /// Makes the state of the calling thread the one that kernels need.
    #[must_use]
    pub fn of_device() -> Self {
        let mut before = 0_u32;
        // SAFETY: stores the register to a variable of its size.
        unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut before, options(nostack, preserves_flags)) };
        if before & !FLAGS != USUAL {
            set(USUAL);
        }
        Self(before)
    }
}

/// Exceptions that happened so far: sticky, and nobody's business here.
const FLAGS: u32 = 0x3f;

fn set(value: u32) {
    // SAFETY: the value came from the register, or has no reserved bit; Rust code between this and the end of the kernel
    // computes in the state that the language expects.
    unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const value, options(nostack, preserves_flags)) };
}

impl Drop for FloatState {
    fn drop(&mut self) {
        if self.0 & !FLAGS != USUAL {
            set(self.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hint::black_box;

    #[test]
    fn a_thread_that_flushes_denormals_keeps_them_inside_and_flushes_them_again_afterwards() {
        const FLUSH: u32 = 0x8040;
        let half = || black_box(f32::MIN_POSITIVE) * black_box(0.5);
        set(USUAL | FLUSH);
        let (outside, inside) = (half(), {
            let _state = FloatState::of_device();
            half()
        });
        let after = half();
        set(USUAL);
        assert_eq!((outside, after), (0.0, 0.0));
        assert_eq!(inside.to_bits(), 0x0040_0000);
    }
}
