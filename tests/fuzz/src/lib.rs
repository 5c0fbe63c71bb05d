//! What fuzz targets share: reading choices out of the fuzzer's bytes, and the software GPU's rig.
//!
//! A target takes bytes and must not crash, hang, leak or break what it asserts. Each finding becomes a test of the
//! crate that was wrong; nothing of a corpus is kept here.

pub mod elf;

#[path = "../../../plugins/sim/tests/rig/mod.rs"]
pub mod rig;

/// Choices, read from the fuzzer's bytes. At the end of them everything is 0.
#[derive(Clone, Copy, Debug)]
pub struct Choices<'a>(pub &'a [u8]);

impl<'a> Choices<'a> {
    /// Whether there are none left.
    #[must_use]
    pub const fn is_over(&self) -> bool {
        self.0.is_empty()
    }

    /// The next bytes, fewer at the end.
    pub fn bytes(&mut self, count: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(count.min(self.0.len()));
        self.0 = rest;
        taken
    }

    /// A byte.
    pub fn u8(&mut self) -> u8 {
        self.bytes(1).first().copied().unwrap_or(0)
    }

    /// Four bytes.
    pub fn u32(&mut self) -> u32 {
        u32::from(self.u8())
            | u32::from(self.u8()) << 8
            | u32::from(self.u8()) << 16
            | u32::from(self.u8()) << 24
    }

    /// Eight bytes.
    pub fn u64(&mut self) -> u64 {
        u64::from(self.u32()) | u64::from(self.u32()) << 32
    }

    /// One of several; `None` of none.
    pub fn of<T: Copy>(&mut self, all: &[T]) -> Option<T> {
        let choice = usize::from(self.u8());
        all.get(choice % all.len().max(1)).copied()
    }
}
