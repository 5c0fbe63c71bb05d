//! A driver in a virtual machine.

use super::{ring_bell, within_a_second, RecordingHost, INACTIVE, READ_INDEX, WRITE_INDEX};
use hansa_kfd::config::Config;
use hansa_kfd_virtio::machine::Lasting;
use hansa_kfd_virtio::KfdVirtioDriver;
use hansa_plugin_api as api;
use hansa_plugin_api::sys::System;
use hansa_plugin_api::{AllocFlags, BankKind, Driver as _, QueueKind, QueuePriority};
use hansa_vkernel::device::SimExecutor;
use hansa_vkernel::virtio::{Guest, GuestBooks, Shape};
use hansa_vkernel::{Books, Kernel, Machine};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::Arc;

/// Adds two arrays of `float`: `s_load` of three pointers, the work-item's number in groups of 64, two loads, a sum and a
/// store (gfx900).
const VECTOR_ADD: [u32; 18] = [
    0xc00a_0100,
    0x0000_0000,
    0xc006_0200,
    0x0000_0010,
    0xd1fd_0000,
    0x0401_0c02,
    0x2400_0082,
    0xbf8c_c07f,
    0xdc50_8000,
    0x0104_0000,
    0xdc50_8000,
    0x0206_0000,
    0xbf8c_0f70,
    0x0202_0501,
    0xdc70_8000,
    0x0008_0100,
    0xbf81_0000,
    0xbf80_0000,
];

/// A driver in a virtual machine, and what is around it.
pub(crate) struct GuestRig {
    pub(crate) driver: KfdVirtioDriver,
    pub(crate) guest: Arc<Guest>,
    pub(crate) lasting: Arc<Lasting>,
}

impl GuestRig {
    pub(crate) fn new(machine: Machine, shape: Shape) -> Self {
        let executor = Arc::new(SimExecutor::new(&machine));
        let kernel = Kernel::new(machine, Guest::host_options(), Some(executor)).unwrap();
        let guest = Guest::new(kernel, shape);
        let lasting = Arc::new(Lasting::default());
        let (_, told) = RecordingHost::made();
        let seen = Arc::clone(&guest) as Arc<dyn System>;
        let driver = KfdVirtioDriver::new(seen, Arc::clone(&lasting), told, Config::default());
        Self {
            driver,
            guest,
            lasting,
        }
    }

    pub(crate) fn vega10() -> Self {
        Self::new(Machine::vega10(), Shape::default())
    }

    pub(crate) fn kernel(&self) -> &Kernel {
        self.guest.kernel()
    }

    pub(crate) fn allocate(&self, kind: BankKind, bytes: u64) -> api::Result<api::Allocation> {
        let description = self.driver.describe()?;
        let bank = description.nodes[0]
            .banks
            .iter()
            .position(|bank| bank.kind == kind);
        self.driver.allocate(&api::AllocRequest {
            bank: u32::try_from(bank.unwrap()).unwrap(),
            flags: AllocFlags::EXECUTABLE,
            ..super::request_memory(0, bytes)
        })
    }

    pub(crate) fn register(&self, address: u64, bytes: u64, own: bool) -> api::Result<api::Allocation> {
        let mut flags = AllocFlags::FINE_GRAIN;
        flags.set(AllocFlags::OWN_ADDRESS, own);
        self.driver.register_host(&api::HostMemoryRequest {
            address,
            bytes,
            nodes: api::RSlice::from_slice(&[0]),
            flags,
            reserved: 0,
        })
    }

    /// Ends driver and context; nothing is left anywhere.
    pub(crate) fn end(&self) {
        self.driver.close().unwrap();
        assert_eq!(self.kernel().complaints(), Vec::<String>::new());
        let books = self.kernel().books();
        // The event page stays with the host's process.
        assert!(
            books.buffers <= 1 && books.queues == 0 && books.events == 0,
            "{books:?}"
        );
        self.lasting.end();
        assert_eq!(self.kernel().complaints(), Vec::<String>::new());
        assert_eq!(self.guest.books(), GuestBooks::default());
        assert_eq!(self.kernel().books(), Books::default());
    }
}

pub(crate) fn word(at: u64) -> &'static AtomicU64 {
    // SAFETY: callers name words of memory that the driver gave and that they have not given back.
    unsafe {
        AtomicU64::from_ptr(std::ptr::with_exposed_provenance_mut(
            usize::try_from(at).unwrap(),
        ))
    }
}

pub(crate) fn half(at: u64) -> &'static AtomicU32 {
    // SAFETY: as above.
    unsafe {
        AtomicU32::from_ptr(std::ptr::with_exposed_provenance_mut(
            usize::try_from(at).unwrap(),
        ))
    }
}

/// A queue, and memory for a sum, all from the driver.
pub(crate) struct Sum {
    pub(crate) info: api::QueueInfo,
    descriptor: u64,
    ring: u64,
    data: u64,
    pub(crate) handles: Vec<api::MemoryHandle>,
}

/// Items of the sum.
const ITEMS: u64 = 256;

impl Sum {
    /// What could be made; everything else is left to the driver's end.
    pub(crate) fn new(rig: &GuestRig) -> api::Result<Self> {
        let descriptor = rig.allocate(BankKind::HOST, 4096)?;
        let ring = rig.allocate(BankKind::HOST, 4096)?;
        let data = rig.allocate(BankKind::HOST, 32 << 10)?;
        let code = rig.allocate(BankKind::LOCAL, 4096)?;
        for packet in 0..64 {
            word(ring.host_address + packet * 64).store(1, Ordering::Relaxed);
        }
        // The descriptor of the kernel, and its code 256 bytes on.
        let kernel = code.host_address;
        word(kernel + 16).store(256, Ordering::Relaxed);
        half(kernel + 48).store(1 << 6 | 0xc0 << 12, Ordering::Relaxed);
        half(kernel + 52).store(2 << 1 | 1 << 7, Ordering::Relaxed);
        half(kernel + 56).store(1 << 3, Ordering::Relaxed);
        for (index, instruction) in (0_u64..).zip(VECTOR_ADD) {
            half(kernel + 256 + index * 4).store(instruction, Ordering::Relaxed);
        }
        let info = rig.driver.create_queue(&api::QueueRequest {
            node: 0,
            kind: QueueKind::AQL,
            priority: QueuePriority::NORMAL,
            engine: u32::MAX,
            ring_address: ring.device_address,
            ring_bytes: 4096,
            descriptor_address: descriptor.device_address,
            write_index_address: descriptor.device_address + WRITE_INDEX,
            read_index_address: descriptor.device_address + READ_INDEX,
            exception_address: 0,
            event: 0,
            percent: 100,
        })?;
        word(descriptor.host_address + INACTIVE).store(data.device_address + (16 << 10), Ordering::Relaxed);
        Ok(Self {
            info,
            descriptor: descriptor.host_address,
            ring: ring.host_address,
            data: data.host_address,
            handles: vec![descriptor.handle, ring.handle, data.handle, code.handle],
        })
        .inspect(|sum| {
            // Arguments: three pointers.
            for (index, offset) in [(0, 4096), (1, 8192), (2, 12288)] {
                word(sum.data + index * 8).store(data.device_address + offset, Ordering::Relaxed);
            }
            for item in 0..ITEMS {
                let value = |of: f32| (of * f32::from(u16::try_from(item).unwrap())).to_bits();
                half(sum.data + 4096 + item * 4).store(value(1.0), Ordering::Relaxed);
                half(sum.data + 8192 + item * 4).store(value(0.5), Ordering::Relaxed);
            }
            // The kernel's address is kept beside the arguments.
            word(sum.data + 64).store(code.device_address, Ordering::Relaxed);
        })
    }

    fn submit(&self, index: u64, header: u32) {
        word(self.descriptor + WRITE_INDEX).store(index + 1, Ordering::Release);
        half(self.ring + index % 64 * 64).store(header, Ordering::Release);
        ring_bell(&self.info, index);
    }

    /// Runs the kernel and looks at what it wrote.
    pub(crate) fn run(&self, index: u64) {
        let packet = self.ring + index % 64 * 64;
        let signal = self.data + (20 << 10);
        word(signal).store(1, Ordering::Relaxed);
        word(signal + 8).store(1, Ordering::Relaxed);
        half(packet + 4).store(64 | 1 << 16, Ordering::Relaxed);
        half(packet + 8).store(1, Ordering::Relaxed);
        half(packet + 12).store(u32::try_from(ITEMS).unwrap(), Ordering::Relaxed);
        half(packet + 16).store(1, Ordering::Relaxed);
        half(packet + 20).store(1, Ordering::Relaxed);
        half(packet + 24).store(0, Ordering::Relaxed);
        half(packet + 28).store(0, Ordering::Relaxed);
        word(packet + 32).store(word(self.data + 64).load(Ordering::Relaxed), Ordering::Relaxed);
        word(packet + 40).store(self.data, Ordering::Relaxed);
        word(packet + 56).store(signal, Ordering::Relaxed);
        // A kernel dispatch with both fences, of one dimension.
        self.submit(index, 2 | 2 << 9 | 2 << 11 | 1 << 16);
        within_a_second("the kernel's end", || {
            word(signal + 8).load(Ordering::Acquire) == 0
        });
        for item in 0..ITEMS {
            let got = f32::from_bits(half(self.data + 12288 + item * 4).load(Ordering::Relaxed));
            let wanted = 1.5 * f32::from(u16::try_from(item).unwrap());
            assert!((got - wanted).abs() < f32::EPSILON, "item {item}: {got}");
        }
    }

    /// Submits a packet of no kind; answers the error that the device reports.
    pub(crate) fn spoil(&self, index: u64) -> u64 {
        let inactive = self.data + (16 << 10);
        word(inactive).store(1, Ordering::Relaxed);
        self.submit(index, 0xff);
        within_a_second("the queue's error", || {
            word(inactive + 8).load(Ordering::Acquire) != 0
        });
        word(inactive + 8).load(Ordering::Acquire)
    }

    pub(crate) fn end(&self, rig: &GuestRig) -> api::Result<()> {
        rig.driver.destroy_queue(self.info.queue)?;
        for handle in &self.handles {
            rig.driver.free(*handle)?;
        }
        Ok(())
    }
}
