//! A kernel whose answers cannot be: each is refused with a reason or does no harm, and the next call works.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod support;

use hansa_kfd::config::Config;
use hansa_kfd::uapi::Request;
use hansa_kfd::uapi::{event, memory, queue, sharing, system as uapi_system};
use hansa_plugin_api as api;
use hansa_plugin_api::sys::{File, MapAccess, System};
use hansa_plugin_api::{Driver, ErrorCode, EventKind, ExportKind, QueueKind};
use hansa_vkernel::{Errno, GpuSpec, Kernel, Machine, Options, VirtualSystem};
use std::mem::offset_of;
use std::path::Path;
use std::sync::{Arc, Mutex};
use support::{request_memory, QueueMemory, Rig};

/// What is written over a good answer.
#[derive(Clone, Debug)]
struct Lie {
    code: u32,
    offset: usize,
    bytes: Vec<u8>,
}

/// A system between driver and kernel that tells lies.
#[derive(Debug)]
struct Liar {
    inner: Arc<VirtualSystem>,
    lie: Mutex<Option<Lie>>,
    /// How often it lied.
    told: Mutex<u32>,
}

impl System for Liar {
    fn open(&self, path: &Path, write: bool) -> Result<File, Errno> {
        self.inner.open(path, write)
    }
    fn close(&self, file: File) {
        self.inner.close(file);
    }
    unsafe fn ioctl(&self, file: File, code: u32, argument: *mut u8) -> Result<i32, Errno> {
        // SAFETY: the caller's.
        let answer = unsafe { self.inner.ioctl(file, code, argument) }?;
        if let Some(lie) = self.lie.lock().unwrap().as_ref().filter(|lie| lie.code == code) {
            assert!(lie.offset + lie.bytes.len() <= (code >> 16 & 0x3fff) as usize);
            for (i, byte) in lie.bytes.iter().enumerate() {
                let at = argument.wrapping_add(lie.offset + i);
                // SAFETY: inside the request's structure, whose size its code has.
                unsafe { at.write(*byte) };
            }
            *self.told.lock().unwrap() += 1;
        }
        Ok(answer)
    }
    unsafe fn mmap(
        &self,
        address: *mut u8,
        bytes: usize,
        access: MapAccess,
        file: Option<File>,
        offset: u64,
    ) -> Result<*mut u8, Errno> {
        // SAFETY: the caller's.
        unsafe { self.inner.mmap(address, bytes, access, file, offset) }
    }
    unsafe fn munmap(&self, address: *mut u8, bytes: usize) -> Result<(), Errno> {
        // SAFETY: the caller's.
        unsafe { self.inner.munmap(address, bytes) }
    }
    fn poll(&self, file: File, timeout_ms: i32) -> Result<bool, Errno> {
        self.inner.poll(file, timeout_ms)
    }
    fn read_file(&self, path: &Path) -> Result<Vec<u8>, Errno> {
        self.inner.read_file(path)
    }
    fn read_dir(&self, path: &Path) -> Result<Vec<String>, Errno> {
        self.inner.read_dir(path)
    }
    fn page_size(&self) -> usize {
        self.inner.page_size()
    }
}

fn rig() -> (Rig, Arc<Liar>) {
    let machine = Machine::with_gpus(&[GpuSpec::default(); 2]);
    let inner = VirtualSystem::new(Kernel::new(machine, Options::default(), None).unwrap());
    let liar = Arc::new(Liar {
        inner: Arc::clone(&inner),
        lie: Mutex::new(None),
        told: Mutex::new(0),
    });
    let rig = Rig::on(inner, Arc::clone(&liar) as Arc<dyn System>, Config::default());
    (rig, liar)
}

/// What is refused, with the words of the reason; `None` where the answer does no harm.
type Expected = Option<&'static str>;

fn lie<R: Request>(offset: usize, value: impl Into<u64>, width: usize) -> Lie {
    Lie {
        code: R::CODE,
        offset,
        bytes: value.into().to_le_bytes()[..width].to_vec(),
    }
}

fn check(what: &str, lie: Lie, expected: Expected, act: impl Fn(&Rig) -> api::Result<()>) {
    let (rig, liar) = rig();
    rig.driver.open().unwrap();
    act(&rig).unwrap_or_else(|error| panic!("{what}, before: {error}"));
    *liar.lie.lock().unwrap() = Some(lie);
    let outcome = act(&rig);
    *liar.lie.lock().unwrap() = None;
    assert!(*liar.told.lock().unwrap() > 0, "{what}: nothing was asked");
    match (outcome, expected) {
        (Ok(()), None) => {}
        (Err(error), Some(words)) => {
            assert!(error.to_string().contains(words), "{what}: {error}");
        }
        (outcome, expected) => panic!("{what}: {outcome:?} and not {expected:?}"),
    }
    act(&rig).unwrap_or_else(|error| panic!("{what}, after: {error}"));
    rig.driver.close().unwrap();
}

fn allocate(rig: &Rig) -> api::Result<()> {
    let a = rig.driver.allocate(&request_memory(0, 8 << 20))?;
    let map = api::MapRequest {
        handle: a.handle,
        nodes: api::RSlice::from_slice(&[1]),
        flags: api::AllocFlags::empty(),
        reserved: 0,
    };
    let outcome = rig.driver.map(&map).and_then(|()| rig.driver.unmap(&map));
    rig.driver.free(a.handle)?;
    outcome
}

fn a_queue(rig: &Rig) -> api::Result<()> {
    let memory = QueueMemory::new(rig, &[0]);
    let outcome = rig
        .driver
        .create_queue(&memory.request(0, 0, QueueKind::AQL))
        .and_then(|info| rig.driver.destroy_queue(info.queue));
    memory.end(rig);
    outcome
}

#[test]
fn memory() {
    use memory::{AllocMemoryOfGpu as Alloc, AvailableMemory, MapMemoryToGpu as Map, UnmapMemoryFromGpu};
    let offset = offset_of!(Alloc, mmap_offset);
    check(
        "an offset inside a page",
        lie::<Alloc>(offset, 1_u32, 8),
        Some("device memory"),
        allocate,
    );
    check(
        "an offset beyond all files",
        lie::<Alloc>(offset, u64::MAX << 12, 8),
        Some("device memory"),
        allocate,
    );
    check(
        "no handle",
        lie::<Alloc>(offset_of!(Alloc, handle), 0_u32, 8),
        Some("MAP_MEMORY_TO_GPU"),
        allocate,
    );
    for done in [0_u32, 2, u32::MAX] {
        let at = offset_of!(Map, n_success);
        check(
            "another number of devices",
            lie::<Map>(at, done, 4),
            Some("success for"),
            |rig| {
                let buffers = rig.kernel().books().buffers;
                let outcome = allocate(rig);
                assert_eq!(rig.kernel().books().buffers, buffers, "what was done is undone");
                outcome
            },
        );
    }
    check(
        "not all devices",
        lie::<UnmapMemoryFromGpu>(offset_of!(UnmapMemoryFromGpu, n_success), 0_u32, 4),
        Some("success for"),
        allocate,
    );
    check(
        "more than there is",
        lie::<AvailableMemory>(offset_of!(AvailableMemory, available), u64::MAX, 8),
        None,
        |rig| {
            let there_is = rig.driver.describe()?.nodes[0].banks[0].bytes;
            assert!(rig.driver.available(0)? <= there_is);
            Ok(())
        },
    );
}

#[test]
fn queues() {
    use queue::CreateQueue as Create;
    let offset = offset_of!(Create, doorbell_offset);
    for (what, value) in [("a doorbell between two", 3_u64), ("another page", 1 << 40)] {
        check(
            what,
            lie::<Create>(offset, value, 8),
            Some("CREATE_QUEUE"),
            a_queue,
        );
    }
    // A number that another queue has: that queue lives on.
    let (rig, liar) = rig();
    rig.driver.open().unwrap();
    let memory = QueueMemory::new(&rig, &[0]);
    let first = rig
        .driver
        .create_queue(&memory.request(0, 0, QueueKind::AQL))
        .unwrap();
    let at = offset_of!(Create, queue_id);
    *liar.lie.lock().unwrap() = Some(lie::<Create>(at, first.queue, 4));
    let error = rig
        .driver
        .create_queue(&memory.request(0, 1, QueueKind::AQL))
        .unwrap_err();
    assert!(error.to_string().contains("a queue that is there"), "{error}");
    *liar.lie.lock().unwrap() = None;
    rig.driver.destroy_queue(first.queue).unwrap();
}

#[test]
fn events() {
    use event::{CreateEvent as Create, WaitEvents};
    let make = |rig: &Rig| {
        let event = rig.driver.create_event(&api::EventRequest {
            kind: EventKind::SIGNAL,
            manual_reset: 1,
            node: 0,
            reserved: 0,
        })?;
        rig.driver.set_event(event.event)?;
        let waited = rig
            .driver
            .wait_events([event.event][..].into(), [][..].into(), true, 0);
        rig.driver.destroy_event(event.event)?;
        waited.map(drop)
    };
    for slot in [4096_u32, u32::MAX] {
        check(
            "a slot beyond the page",
            lie::<Create>(offset_of!(Create, event_slot_index), slot, 4),
            Some("slot"),
            make,
        );
    }
    // The driver's own events are there already.
    check(
        "the number of another event",
        lie::<Create>(offset_of!(Create, event_id), 0_u32, 4),
        Some("an event that is there"),
        make,
    );
    for result in [3_u32, u32::MAX] {
        check(
            "a result that is none",
            lie::<WaitEvents>(offset_of!(WaitEvents, wait_result), result, 4),
            Some("WAIT_EVENTS"),
            make,
        );
    }
}

#[test]
fn sharing_and_clocks() {
    use sharing::{ExportDmabuf, GetDmabufInfo as Info};
    use uapi_system::GetClockCounters as Clock;
    let share = |rig: &Rig| {
        let a = rig.driver.allocate(&request_memory(0, 8 << 20))?;
        let outcome = rig
            .driver
            .export_memory(a.handle, ExportKind::DMA_BUF)
            .and_then(|shared| {
                let b = rig.driver.import_memory(&api::ImportRequest {
                    shared,
                    bytes: 8 << 20,
                    nodes: api::RSlice::from_slice(&[0]),
                })?;
                rig.driver.free(b.handle)
            });
        rig.driver.free(a.handle)?;
        outcome
    };
    check(
        "no file",
        lie::<ExportDmabuf>(offset_of!(ExportDmabuf, dmabuf_fd), u32::MAX, 4),
        Some("EXPORT_DMABUF"),
        share,
    );
    for bytes in [0_u64, 1, 4096, u64::MAX, u64::MAX << 12] {
        check(
            "another size",
            lie::<Info>(offset_of!(Info, size), bytes, 8),
            Some(""),
            share,
        );
    }
    check(
        "another device",
        lie::<Info>(offset_of!(Info, gpu_id), 7_u32, 4),
        Some("device 7"),
        share,
    );
    check(
        "a clock that stands",
        lie::<Clock>(offset_of!(Clock, system_clock_freq), 0_u32, 8),
        Some("frequency 0"),
        |rig| rig.driver.clock_counters(0).map(drop),
    );
}

/// Answers that only opening asks for.
#[test]
fn opening() {
    use uapi_system::{GetProcessAperturesNew, GetVersion};
    let rows = [
        (
            lie::<GetVersion>(0, 2_u32, 4),
            ErrorCode::WRONG_VERSION,
            "interface 2",
        ),
        (
            lie::<GetProcessAperturesNew>(8, u32::MAX, 4),
            ErrorCode::FAILED,
            "there was room for",
        ),
        (
            lie::<GetProcessAperturesNew>(8, 0_u32, 4),
            ErrorCode::NO_DEVICE,
            "no entry for device",
        ),
    ];
    for (lie, code, words) in rows {
        let (rig, liar) = rig();
        *liar.lie.lock().unwrap() = Some(lie);
        let error = rig.driver.open().unwrap_err();
        assert_eq!(error.code, code, "{error}");
        assert!(error.to_string().contains(words), "{error}");
        *liar.lie.lock().unwrap() = None;
        rig.driver.open().unwrap();
        allocate(&rig).unwrap();
    }
}
