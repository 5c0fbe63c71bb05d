//! The page of registers that the kernel gives to programs: what the host wrote to device memory over the bus may rest in
//! a buffer of the device (HDP), and a store to the first register of the page empties it.
//!
//! Not every kernel and device has the page; without it the runtime is told of none.

use crate::machine::Machine;
use crate::memory::{drop_at_last, Block};
use crate::uapi::memory as uapi;
use hansa_plugin_api::sync::Mutex;
use hansa_plugin_api::Attribute;

/// The pages, of the devices that have one.
#[derive(Debug, Default)]
pub struct Registers {
    pages: Mutex<Vec<Block>>,
}

impl Machine {
    /// Maps the page of each device, and says so in its description.
    pub(crate) fn map_registers(&mut self) {
        let page = self.system.page_size() as u64;
        for index in 0..self.gpus.len() {
            let gpu_id = self.gpus[index].candidate.gpu_id;
            let Some(block) = self.register_page(gpu_id, page) else {
                continue;
            };
            let address = block.range.address();
            self.registers.pages.lock().push(block);
            if let Some(node) = self.description.nodes.get_mut(index) {
                node.attributes.push(Attribute {
                    key: Attribute::HDP_FLUSH_ADDRESS,
                    reserved: 0,
                    value: address,
                });
            }
        }
    }

    fn register_page(&self, gpu_id: u32, page: u64) -> Option<Block> {
        let range = self.reserve(page, page).ok()?;
        let flags = uapi::ALLOC_MMIO_REMAP | uapi::ALLOC_WRITABLE | uapi::ALLOC_COHERENT;
        let buffer = self.kfd.allocate(gpu_id, range.address(), page, flags, 0).ok()?;
        let shown = range.show("registers", self.kfd.0.file(), buffer.mmap_offset, false);
        let block = Block {
            range,
            handle: buffer.handle,
            mapped: Vec::new(),
            host_visible: true,
            apart: None,
        };
        self.finish_block(block, &[gpu_id], shown).ok()
    }
}

impl Registers {
    /// Unmaps everything.
    pub(crate) fn close(&self, machine: &Machine) {
        for block in self.pages.lock().drain(..) {
            drop_at_last(machine, block);
        }
    }
}
