//! The trap handler of waves: what reports their exceptions.
//!
//! Its source is `trap/handler.s`, which says what it does; the code objects beside it are assembled from that, which
//! `tests/code.rs` checks. It is installed where the kernel reports exceptions. Without one a wave that traps
//! stands still and nobody hears of it.

use crate::chip::Target;
use crate::error::Result;
use crate::machine::{Gpu, Machine};
use crate::memory::{drop_at_last, Block, BlockRequest};
use crate::range::pointer;
use crate::uapi::memory as uapi;
use hansa_plugin_api::sync::Mutex;

/// The processors that the handler is assembled for, and the code.
pub const CODE: [(&str, &[u8]); 6] = [
    ("gfx900", include_bytes!("../trap/gfx900.bin")),
    ("gfx940", include_bytes!("../trap/gfx940.bin")),
    ("gfx1010", include_bytes!("../trap/gfx1010.bin")),
    ("gfx1030", include_bytes!("../trap/gfx1030.bin")),
    ("gfx1100", include_bytes!("../trap/gfx1100.bin")),
    ("gfx1200", include_bytes!("../trap/gfx1200.bin")),
];

/// The code for a processor; `None` for those whose waves have other registers for traps (before gfx9).
#[must_use]
pub fn code(target: Target) -> Option<&'static [u8]> {
    let name = match (target.major, target.minor) {
        (9, 0) => "gfx900",
        (9, _) => "gfx940",
        (10, 0..=2) => "gfx1010",
        (10, _) => "gfx1030",
        (11, _) => "gfx1100",
        (12, 0) => "gfx1200",
        _ => return None,
    };
    CODE.iter().find(|(of, _)| *of == name).map(|(_, code)| *code)
}

/// Where the handlers are.
#[derive(Debug, Default)]
pub struct TrapHandlers {
    blocks: Mutex<Vec<Block>>,
}

impl TrapHandlers {
    /// Frees the memory. No wave runs any more.
    pub(crate) fn close(&self, machine: &Machine) {
        for block in self.blocks.lock().drain(..) {
            drop_at_last(machine, block);
        }
    }
}

impl Machine {
    /// Installs the handler on each device that there is one for. Where that fails, a remark says so, and the device
    /// computes all the same.
    pub(crate) fn install_trap_handlers(&mut self) {
        let mut remarks = Vec::new();
        for gpu in &self.gpus {
            let Some(code) = code(gpu.candidate.own_target) else {
                continue;
            };
            if let Err(error) = self.install_trap_handler(gpu, code) {
                let node = gpu.candidate.node;
                let error = hansa_plugin_api::Error::from(error);
                remarks.push(format!(
                    "Node {node}: exceptions of waves are not reported: {error}"
                ));
            }
        }
        self.description
            .hidden
            .extend(remarks.into_iter().map(Into::into));
    }

    fn install_trap_handler(&self, gpu: &Gpu, code: &[u8]) -> Result<()> {
        let page = self.system.page_size() as u64;
        let request = BlockRequest {
            bytes: (code.len() as u64).next_multiple_of(page),
            alignment: page,
            flags: uapi::ALLOC_GTT
                | uapi::ALLOC_WRITABLE
                | uapi::ALLOC_EXECUTABLE
                | uapi::ALLOC_NO_SUBSTITUTE
                | uapi::ALLOC_COHERENT,
            host: true,
        };
        let gpu_id = gpu.candidate.gpu_id;
        let block = self.new_block(gpu, request, &[gpu_id])?;
        let address = block.range.address();
        // SAFETY: the block was just made for the host to write, and has room for the code.
        unsafe { std::ptr::copy_nonoverlapping(code.as_ptr(), pointer(address), code.len()) };
        let installed = self.kfd.set_trap_handler(gpu_id, address, 0);
        if installed.is_ok() {
            self.trap_handlers.blocks.lock().push(block);
        } else {
            drop_at_last(self, block);
        }
        installed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chip::CHIPS;

    #[test]
    fn every_chip_from_gfx9_on_has_a_handler() {
        for chip in CHIPS {
            let expected = chip.target.major >= 9;
            assert_eq!(code(chip.target).is_some(), expected, "{}", chip.target);
        }
    }
}
