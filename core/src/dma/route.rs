//! Who copies: a driver by itself, a copy engine that the runtime feeds, compute units, or the host.
//!
//! The host writes device memory that it sees about as fast as an engine does, without the way to the engine and back;
//! it reads it word by word over the bus, so an engine is faster from a few hundred bytes on. What the host does not see
//! only the device reaches. Host memory that is the runtime's, or locked, is seen by devices; other host memory goes through
//! a buffer in between.
//!
//! Compute units copy where engines are switched off, or the device gives none. Inside one device they may be faster, which
//! depends on the chip: of large copies the first goes one way and the second the other, and then the faster way is taken.

use super::carrier::{Carrier, Way};
use super::engine::Engine;
use super::kernels::Kernels;
use super::{bytes_of, rows, Copy};
use crate::agent::DeviceRef;
use crate::error::{Error, Result};
use crate::memory::AllocationKind;
use crate::runtime::Runtime;
use hansa_plugin_api as api;
use hansa_plugin_api::sync::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Up to this size the host writes device memory itself.
const HOST_WRITES: u64 = 64 << 10;
/// Up to this size the host reads device memory itself.
const HOST_READS: u64 = 512;
/// From this size on copies inside a device say how fast the way is that they went.
const MEASURED: u64 = 1 << 20;

/// What a carrier is used for; each direction has its own engine, so that they do not wait for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Lane {
    /// An engine, to the device.
    ToDevice,
    /// An engine, from the device.
    FromDevice,
    /// Compute units.
    Kernels,
}

/// Bytes a second that copies inside a device had, by engine and by compute units.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Pace {
    engine: Option<f64>,
    kernels: Option<f64>,
}

impl Pace {
    fn enter(&mut self, lane: Lane, bytes: u64, took: Duration) {
        // Sizes of memory are far below what a double has bits for.
        let bytes = f64::from(u32::try_from(bytes >> 10).unwrap_or(u32::MAX)) * 1024.0;
        let pace = Some(bytes / took.as_secs_f64().max(1e-9));
        match lane {
            Lane::Kernels => self.kernels = pace,
            Lane::ToDevice | Lane::FromDevice => self.engine = pace,
        }
    }

    /// Whether the next copy goes to compute units.
    fn prefers_kernels(&self) -> bool {
        match (self.engine, self.kernels) {
            (None, _) => false,
            (Some(_), None) => true,
            (Some(engine), Some(kernels)) => kernels > engine,
        }
    }
}

/// The carriers that were used so far.
#[derive(Debug, Default)]
pub(super) struct Carriers {
    by_place: Mutex<HashMap<(DeviceRef, Lane), Arc<Carrier>>>,
    paces: Mutex<HashMap<DeviceRef, Pace>>,
    /// Carriers whose device reported an error; somebody may still look at them.
    failed: Mutex<Vec<Arc<Carrier>>>,
}

impl Carriers {
    fn get(&self, runtime: &Arc<Runtime>, device: DeviceRef, lane: Lane) -> Result<Arc<Carrier>> {
        let key = (device, lane);
        let mut by_place = self.by_place.lock();
        if let Some(carrier) = by_place.get(&key) {
            if !carrier.has_failed() {
                return Ok(Arc::clone(carrier));
            }
        }
        let way = match lane {
            Lane::Kernels => Way::Kernels(Kernels::create(runtime, device)?),
            Lane::ToDevice | Lane::FromDevice => Way::Engine(Engine::create(runtime, device)?),
        };
        let carrier = Arc::new(Carrier::new(device, way));
        let old = by_place.insert(key, Arc::clone(&carrier));
        self.failed.lock().extend(old);
        Ok(carrier)
    }

    /// A device reported an error.
    pub(super) fn fail(&self, device: DeviceRef) {
        for ((of, _), carrier) in &*self.by_place.lock() {
            if *of == device {
                carrier.fail();
            }
        }
    }

    /// Takes all down. Nobody copies any more.
    pub(super) fn stop(&self, runtime: &Runtime) {
        let carriers = std::mem::take(&mut *self.by_place.lock());
        let failed = std::mem::take(&mut *self.failed.lock());
        for carrier in carriers.into_values().chain(failed) {
            carrier.destroy(runtime);
        }
    }
}

/// What one end of a copy is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// Host memory of the program, which devices do not see.
    Pageable,
    /// Host memory that devices see.
    Host,
    /// Memory of a device.
    Device { visible: bool },
}

impl Runtime {
    fn end_at(&self, address: u64) -> End {
        self.memory.find(address).map_or(End::Pageable, |allocation| {
            if matches!(
                allocation.kind,
                AllocationKind::Device { .. } | AllocationKind::Imported { .. }
            ) {
                let visible = allocation.host_base != 0;
                End::Device { visible }
            } else {
                End::Host
            }
        })
    }

    /// Whether what a copy does at one of its ends lies in one allocation, if it begins in memory of a device: what comes
    /// after is somebody else's, and where it is mapped at all only the driver knows.
    fn check_end(&self, address: u64, request: &api::CopyRequest, (slice, row): (u64, u64)) -> Result<()> {
        if bytes_of(request) == 0 || !matches!(self.end_at(address), End::Device { .. }) {
            return Ok(());
        }
        let last = |count: u64, pitch: u64| (count - 1).checked_mul(pitch);
        let end = last(request.slices, slice)
            .and_then(|bytes| bytes.checked_add(last(request.rows, row)?))
            .and_then(|bytes| bytes.checked_add(request.row_bytes))
            .and_then(|bytes| bytes.checked_add(address));
        let whole = self.memory.find(address).is_none_or(|allocation| {
            let begins = [allocation.base, allocation.host_base];
            let room = |base: u64| end.is_some_and(|end| end - base <= allocation.bytes);
            begins
                .into_iter()
                .any(|base| base != 0 && base <= address && room(base))
        });
        if whole {
            Ok(())
        } else {
            Err(Error::InvalidArgument("the copy leaves the memory it begins in"))
        }
    }

    /// An agent's device, if its driver has these groups.
    pub(crate) fn device_with(&self, agent: usize, groups: api::DriverGroups) -> Option<DeviceRef> {
        let device = self.agents[agent].device()?.reference;
        self.drivers[device.driver]
            .description
            .groups
            .contains(groups)
            .then_some(device)
    }

    /// The device whose driver has a group among the two of a copy; the one that is read first.
    pub(super) fn copier(&self, copy: &Copy, group: api::DriverGroups) -> Option<DeviceRef> {
        [copy.source_agent, copy.destination_agent]
            .into_iter()
            .find_map(|agent| self.device_with(agent, group))
    }

    /// Whether somebody besides the host can write an agent's memory.
    pub(crate) fn has_copier(&self, agent: usize) -> bool {
        self.device_with(agent, api::DriverGroups::COPY).is_some() || self.carrying(agent).is_some()
    }

    /// An agent's device, if it has something that the runtime can have carry bytes.
    fn carrying(&self, agent: usize) -> Option<DeviceRef> {
        let device = self.agents[agent].device()?;
        let has_kernels = device.description.attribute(api::Attribute::COPY_CODE).is_some();
        self.device_with(agent, api::DriverGroups::DMA_ENGINES)
            .or_else(|| has_kernels.then_some(device.reference))
    }

    /// Who carries bytes for a device: an engine of this direction, or compute units where they are `better` or the only
    /// ones. Engines that are switched off are a last resort, where the host cannot copy.
    fn carrier(
        self: &Arc<Self>,
        device: DeviceRef,
        direction: Lane,
        better: bool,
        host_can: bool,
    ) -> Result<(Lane, Arc<Carrier>)> {
        let get = |lane| Ok((lane, self.dma.carriers.get(self, device, lane)?));
        let (first, second) = match (self.has_engines_off(), better) {
            (true, _) if host_can => return get(Lane::Kernels),
            (true, _) | (_, true) => (Lane::Kernels, direction),
            (false, false) => (direction, Lane::Kernels),
        };
        // The first error is the one to tell.
        get(first).or_else(|error| get(second).map_err(|_| error))
    }

    /// Whether the configuration wants no copies by engines where the host can copy.
    fn has_engines_off(&self) -> bool {
        self.config.settings.runtime.enable_sdma.value == Some(false)
    }

    /// Copies by an engine, by compute units or by the host.
    pub(super) fn copy_by_route(self: &Arc<Self>, copy: &Copy) -> Result<()> {
        let request = &copy.request;
        let fills = request.flags.contains(api::CopyFlags::FILL);
        let to = self.end_at(request.destination);
        let from = if fills {
            End::Host
        } else {
            self.end_at(request.source)
        };
        self.check_end(
            request.destination,
            request,
            (request.destination_slice_pitch, request.destination_row_pitch),
        )?;
        if !fills {
            self.check_end(
                request.source,
                request,
                (request.source_slice_pitch, request.source_row_pitch),
            )?;
        }
        let hidden = |end| end == End::Device { visible: false };
        let reads_device = matches!(from, End::Device { .. });
        let writes_device = matches!(to, End::Device { .. });
        let host_can = !hidden(to) && !hidden(from);
        let host_should = match (reads_device, writes_device) {
            (false, false) => true,
            (true, _) => copy.bytes() <= HOST_READS,
            (false, true) => from == End::Pageable || copy.bytes() <= HOST_WRITES,
        };
        if host_can && host_should {
            self.copy_over_bus(copy, reads_device, writes_device);
            return Ok(());
        }
        let direction = if reads_device {
            Lane::FromDevice
        } else {
            Lane::ToDevice
        };
        let device = [copy.source_agent, copy.destination_agent]
            .into_iter()
            .find_map(|agent| self.carrying(agent));
        let measured = reads_device
            && writes_device
            && copy.source_agent == copy.destination_agent
            && copy.bytes() >= MEASURED;
        let better = |device| {
            let paces = self.dma.carriers.paces.lock();
            measured && paces.get(&device).is_some_and(Pace::prefers_kernels)
        };
        let carrier = device.map_or(
            Err(Error::NotSupported("copies of memory the host does not see")),
            |device| self.carrier(device, direction, better(device), host_can),
        );
        let (lane, carrier) = match carrier {
            Ok(found) => found,
            Err(_) if host_can => {
                self.copy_over_bus(copy, reads_device, writes_device);
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        self.let_see(&carrier, request.destination)?;
        if !fills {
            self.let_see(&carrier, request.source)?;
        }
        if from != End::Pageable && to != End::Pageable {
            let start = Instant::now();
            carrier.run(self, request)?;
            if measured {
                let mut paces = self.dma.carriers.paces.lock();
                let pace = paces.entry(carrier.device).or_default();
                pace.enter(lane, copy.bytes(), start.elapsed());
            }
            return Ok(());
        }
        for (destination, source) in rows(request) {
            if from == End::Pageable {
                // SAFETY: the program says that the range is its memory.
                unsafe { carrier.upload(self, destination, source, request.row_bytes) }?;
            } else {
                // SAFETY: as above.
                unsafe { carrier.download(self, destination, source, request.row_bytes) }?;
            }
        }
        Ok(())
    }

    /// Copies on the host, and empties the buffers of devices between their memory and the bus.
    fn copy_over_bus(&self, copy: &Copy, reads_device: bool, writes_device: bool) {
        if reads_device {
            self.empty_bus_buffer(copy.source_agent);
        }
        self.host_copy(&copy.request);
        if writes_device {
            self.empty_bus_buffer(copy.destination_agent);
        }
    }

    /// Empties the buffer of a device that has a register for it.
    fn empty_bus_buffer(&self, agent: usize) {
        let register = self.agents[agent]
            .device()
            .and_then(|device| device.description.attribute(api::Attribute::HDP_FLUSH_ADDRESS))
            .and_then(|address| usize::try_from(address).ok())
            .filter(|&address| address != 0);
        if let Some(address) = register {
            let register = std::ptr::with_exposed_provenance_mut::<u32>(address);
            std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
            // SAFETY: the driver gave this address as that of a register that stays mapped while it is open.
            unsafe { register.write_volatile(1) };
            // SAFETY: as above. The answer says that the store has arrived.
            let _ = unsafe { register.read_volatile() };
        }
    }

    /// Writes device memory that will be executed: by an engine where there is one, because what the host writes over the
    /// bus may rest in buffers that instruction fetches do not look into.
    ///
    /// # Errors
    ///
    /// What the driver says.
    pub(crate) fn write_code(self: &Arc<Self>, agent: usize, destination: u64, bytes: &[u8]) -> Result<()> {
        let source = bytes.as_ptr().expose_provenance() as u64;
        let device = self
            .device_with(agent, api::DriverGroups::DMA_ENGINES)
            .filter(|_| !self.has_engines_off() && !bytes.is_empty());
        if let Some(device) = device {
            if let Ok(engine) = self.dma.carriers.get(self, device, Lane::ToDevice) {
                // SAFETY: the slice can be read.
                return unsafe { engine.upload(self, destination, source, bytes.len() as u64) };
            }
        }
        self.copy(destination, source, bytes.len() as u64)
    }

    /// Lets a carrier's device see memory of another device of its driver.
    fn let_see(&self, carrier: &Carrier, address: u64) -> Result<()> {
        let Some(allocation) = self.memory.find(address) else {
            return Ok(());
        };
        let AllocationKind::Device { driver, handle } = allocation.kind else {
            return Ok(());
        };
        let owner = self.agents[self.regions[allocation.region].agent]
            .device()
            .map(|device| device.reference.node);
        if owner == Some(carrier.device.node) {
            return Ok(());
        }
        let nodes = [carrier.device.node];
        Ok(self.drivers[driver].object.map(&api::MapRequest {
            handle,
            nodes: api::RSlice::from_slice(&nodes),
            flags: api::AllocFlags::empty(),
            reserved: 0,
        })?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_are_tried_and_the_faster_one_is_taken() {
        let mut pace = Pace::default();
        assert!(!pace.prefers_kernels());
        pace.enter(Lane::FromDevice, MEASURED, Duration::from_micros(20));
        assert!(pace.prefers_kernels());
        pace.enter(Lane::Kernels, MEASURED, Duration::from_micros(30));
        assert!(!pace.prefers_kernels());
        pace.enter(Lane::FromDevice, MEASURED, Duration::from_micros(40));
        assert!(pace.prefers_kernels());
    }
}
