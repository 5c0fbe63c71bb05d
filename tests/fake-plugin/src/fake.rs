//! The plugin and its driver: one small accelerator with memory of the host.

use std::alloc::Layout;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use hansa_plugin_api::manifest::PluginFacts;
use hansa_plugin_api::{
    AllocRequest, Allocation, BankFlags, BankKind, Driver, DriverGroups, DriverObject, Error, ErrorCode,
    HostRef, MemoryBank, MemoryHandle, NodeDescription, NodeKind, Plugin, ProbeOutcome, RVec, Result,
    SystemDescription,
};

use crate::behaviour::{act, value};

/// The plugin.
#[derive(Debug)]
pub(crate) struct Fake;

impl Plugin for Fake {
    const FACTS: PluginFacts = crate::facts::FACTS;

    fn probe(_: HostRef<'_>) -> Result<ProbeOutcome> {
        act("probe")?;
        let devices = value("devices").unwrap_or_else(|| "fake:0".to_owned());
        let devices = devices.split(',').map(|device| device.trim().into());
        Ok(ProbeOutcome {
            devices: devices.collect(),
        })
    }

    fn driver(_: HostRef<'static>) -> Result<DriverObject> {
        act("init")?;
        Ok(DriverObject::new(FakeDriver::default()))
    }
}

/// Bytes of a page.
const PAGE: u64 = 4096;

/// The driver: what it gave out, by address.
#[derive(Default)]
struct FakeDriver(Mutex<HashMap<u64, Layout>>);

impl Driver for FakeDriver {
    fn open(&self) -> Result<()> {
        act("open")
    }

    fn describe(&self) -> Result<SystemDescription> {
        act("describe")?;
        let mut node = NodeDescription::new(0, NodeKind::ACCELERATOR, "fake");
        node.banks.push(MemoryBank {
            kind: BankKind::LOCAL,
            flags: BankFlags::HOST_VISIBLE,
            bytes: 1 << 20,
            granule: PAGE,
            recommended_granule: PAGE,
            width_bits: 64,
            max_clock_mhz: 1,
        });
        Ok(SystemDescription {
            groups: DriverGroups::MEMORY,
            nodes: RVec::from(vec![node]),
            links: RVec::new(),
            hidden: value("hidden").into_iter().map(Into::into).collect(),
        })
    }

    fn close(&self) -> Result<()> {
        Ok(())
    }

    fn allocate(&self, request: &AllocRequest) -> Result<Allocation> {
        act("allocate")?;
        let bytes = usize::try_from(request.bytes).map_err(|_| out_of_memory())?;
        let layout = Layout::from_size_align(bytes.max(1), 4096).map_err(|_| out_of_memory())?;
        // SAFETY: the layout is not of size 0.
        let memory = unsafe { std::alloc::alloc_zeroed(layout) };
        if memory.is_null() {
            return Err(out_of_memory());
        }
        let address = memory.expose_provenance() as u64;
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(address, layout);
        Ok(Allocation {
            handle: MemoryHandle(address),
            device_address: address,
            host_address: address,
            bytes: request.bytes,
        })
    }

    fn free(&self, handle: MemoryHandle) -> Result<()> {
        let given = self
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&handle.0);
        let layout = given.ok_or_else(|| Error::new(ErrorCode::INVALID_HANDLE, "No such allocation"))?;
        let address = usize::try_from(handle.0).map_err(|_| out_of_memory())?;
        let memory = std::ptr::with_exposed_provenance_mut::<u8>(address);
        // SAFETY: the address and layout are those of one allocation that was not freed before.
        unsafe { std::alloc::dealloc(memory, layout) };
        Ok(())
    }
}

fn out_of_memory() -> Error {
    Error::new(ErrorCode::OUT_OF_RESOURCES, "Out of memory")
}
