//! The requests, one function each, with the kernel's rules and errnos.
//!
//! As the DRM core does, the number is looked at in its low byte only, and structures are filled up with zeros or cut off.

use crate::buffers::{Buffers, NONE};
use crate::contexts::{Command, Context, Waited};
use crate::spec::{NpuSpec, Personality};
use hansa_plugin_api::sync::Mutex;
use hansa_plugin_api::sys::Errno;
use hansa_xdna::uapi::accel::{
    self, query, AieMetadata, AieVersion, Clock, ClockMetadata, ConfigHwctx, CreateBo, CreateHwctx, CuConfig,
    DestroyHwctx, ExecCmd, GetBoInfo, GetInfo, Qos, SyncBo, WaitCmd,
};
use hansa_xdna::uapi::drm::{GemClose, PrimeFdToHandle, PrimeHandleToFd, SyncobjTimelineWait, Version};
use hansa_xdna::uapi::Request;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Offsets for `mmap` are those of no other buffer's.
const MAP_SHIFT: u32 = 32;
/// Most buffers of a command.
const MOST_USES: u32 = 4095;

/// A file of a process.
#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) spec: NpuSpec,
    pub(crate) buffers: Arc<Mutex<Buffers>>,
    pub(crate) contexts: Mutex<BTreeMap<u32, Context>>,
    last_context: Mutex<u32>,
    /// Why commands failed, for people.
    log: Arc<Mutex<Vec<String>>>,
    hold: Arc<Mutex<()>>,
}

/// Copies a structure of the process's in, runs, and copies it out.
///
/// # Safety
///
/// `argument` must point at as many bytes as the number says.
unsafe fn with<R: Request>(
    code: u32,
    argument: *mut u8,
    run: impl FnOnce(&mut R) -> Result<(), Errno>,
) -> Result<i32, Errno> {
    let given = (code >> 16 & 0x3fff) as usize;
    let bytes = given.min(size_of::<R>());
    let mut copy = R::default();
    let at: *mut u8 = std::ptr::from_mut(&mut copy).cast();
    // SAFETY: both have so many bytes; every bit pattern is an `R`.
    unsafe { std::ptr::copy_nonoverlapping(argument, at, bytes) };
    let outcome = run(&mut copy);
    let at: *const u8 = std::ptr::from_ref(&copy).cast();
    // SAFETY: as above.
    unsafe { std::ptr::copy_nonoverlapping(at, argument, bytes) };
    outcome.map(|()| 0)
}

fn pointer<T>(address: u64) -> Result<*mut T, Errno> {
    match usize::try_from(address) {
        Ok(0) | Err(_) => Err(Errno::FAULT),
        Ok(address) => Ok(std::ptr::with_exposed_provenance_mut(address)),
    }
}

/// Reads items of the process's.
fn read<T: Copy + Default>(address: u64, count: usize) -> Result<Vec<T>, Errno> {
    let mut items = vec![T::default(); count];
    if count != 0 {
        let from: *const u8 = pointer(address)?;
        let bytes = size_of_val(items.as_slice());
        // SAFETY: a caller in this process gave the address of so many items; a wrong one is its fault.
        unsafe { std::ptr::copy_nonoverlapping(from, items.as_mut_ptr().cast(), bytes) };
    }
    Ok(items)
}

/// Writes bytes to the process's room.
fn write(address: u64, bytes: &[u8]) -> Result<(), Errno> {
    let at = pointer::<u8>(address)?;
    // SAFETY: a caller in this process gave the address of a room of that size.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), at, bytes.len()) };
    Ok(())
}

fn view<T>(item: &T) -> &[u8] {
    // SAFETY: the kernel's structures are integers without gaps.
    unsafe { std::slice::from_raw_parts(std::ptr::from_ref(item).cast(), size_of::<T>()) }
}

/// The kernel's name of a request, if it is one that there is.
pub(crate) fn name_of(code: u32) -> Option<&'static str> {
    Some(match code & 0xff {
        0x00 => Version::NAME,
        0x09 => GemClose::NAME,
        0x2d => PrimeHandleToFd::NAME,
        0x2e => PrimeFdToHandle::NAME,
        0x40 => CreateHwctx::NAME,
        0x41 => DestroyHwctx::NAME,
        0x42 => ConfigHwctx::NAME,
        0x43 => CreateBo::NAME,
        0x44 => GetBoInfo::NAME,
        0x45 => SyncBo::NAME,
        0x46 => ExecCmd::NAME,
        0x47 => GetInfo::NAME,
        0x49 => WaitCmd::NAME,
        0xca => SyncobjTimelineWait::NAME,
        _ => return None,
    })
}

impl Client {
    pub(crate) fn new(spec: NpuSpec, log: &Arc<Mutex<Vec<String>>>, hold: &Arc<Mutex<()>>) -> Self {
        Self {
            spec,
            buffers: Arc::default(),
            contexts: Mutex::default(),
            last_context: Mutex::new(0),
            log: Arc::clone(log),
            hold: Arc::clone(hold),
        }
    }

    /// Runs a request.
    ///
    /// # Safety
    ///
    /// `argument` must point at what `code` reads and writes.
    #[expect(clippy::multiple_unsafe_ops_per_block, reason = "one of them runs")]
    pub(crate) unsafe fn ioctl(&self, code: u32, argument: *mut u8) -> Result<i32, Errno> {
        // SAFETY: the caller says that the argument fits; the number names the structure.
        unsafe {
            match code & 0xff {
                0x00 => with(code, argument, |a| self.version(a)),
                0x09 => with(code, argument, |a: &mut GemClose| {
                    self.buffers
                        .lock()
                        .close(a.handle)
                        .then_some(())
                        .ok_or(Errno::INVAL)
                }),
                0x2d => with(code, argument, |a| self.export(a)),
                0x2e => with(code, argument, |a: &mut PrimeFdToHandle| {
                    a.handle = self.buffers.lock().import(&self.spec, a.fd)?;
                    Ok(())
                }),
                0x40 => with(code, argument, |a| self.create_context(a)),
                0x41 => with(code, argument, |a| self.destroy_context(a)),
                0x42 => with(code, argument, |a| self.configure(a)),
                0x43 => with(code, argument, |a| self.create_buffer(a)),
                0x44 => with(code, argument, |a| self.buffer_info(a)),
                0x45 => with(code, argument, |a| self.sync(a)),
                0x46 => with(code, argument, |a| self.execute(a)),
                0x47 => with(code, argument, |a| self.info(a)),
                0x49 => with(code, argument, |a| self.wait(a)),
                0xca => with(code, argument, |a| self.wait_on_timeline(a)),
                _ => Err(Errno::NOTTY),
            }
        }
    }

    fn version(&self, a: &mut Version) -> Result<(), Errno> {
        let name = self.spec.driver.as_bytes();
        let room = usize::try_from(a.name_len).map_err(|_| Errno::FAULT)?;
        if room != 0 {
            write(a.name, &name[..room.min(name.len())])?;
        }
        a.name_len = name.len() as u64;
        a.version_minor = match self.spec.personality {
            Personality::OutOfTree => 0,
            Personality::Mainline => 16,
        };
        Ok(())
    }

    fn export(&self, a: &mut PrimeHandleToFd) -> Result<(), Errno> {
        let buffers = self.buffers.lock();
        let bo = buffers.get(a.handle).ok_or(Errno::NOENT)?;
        if bo.kind != accel::bo::SHARE {
            return Err(Errno::OPNOTSUPP);
        }
        a.fd = bo.memory.export()?;
        Ok(())
    }

    fn create_buffer(&self, a: &mut CreateBo) -> Result<(), Errno> {
        if a.flags != 0 || a.vaddr != 0 {
            return Err(Errno::INVAL);
        }
        a.handle = self.buffers.lock().create(&self.spec, a.bo_type, a.size)?;
        Ok(())
    }

    fn buffer_info(&self, a: &mut GetBoInfo) -> Result<(), Errno> {
        if a.ext != 0 || a.ext_flags != 0 || a.pad != 0 {
            return Err(Errno::INVAL);
        }
        let buffers = self.buffers.lock();
        let bo = buffers.get(a.handle).ok_or(Errno::NOENT)?;
        a.map_offset = if bo.kind == accel::bo::DEV {
            NONE
        } else {
            u64::from(a.handle) << MAP_SHIFT
        };
        a.vaddr = buffers.address(bo);
        a.xdna_addr = Buffers::device_address(bo);
        Ok(())
    }

    /// The handle that an offset for `mmap` means.
    pub(crate) fn handle_at(offset: u64) -> Option<u32> {
        let handle = u32::try_from(offset >> MAP_SHIFT).ok()?;
        (offset & (u64::from(u32::MAX)) == 0).then_some(handle)
    }

    fn sync(&self, a: &mut SyncBo) -> Result<(), Errno> {
        let buffers = self.buffers.lock();
        let bo = buffers.get(a.handle).ok_or(Errno::NOENT)?;
        if a.direction != 0 {
            // Asks the firmware for debug data, which this buffer has none of.
            return Err(Errno::INVAL);
        }
        match a.offset.checked_add(a.size) {
            Some(end) if end <= bo.bytes => Ok(()),
            _ => Err(Errno::INVAL),
        }
    }

    fn info(&self, a: &mut GetInfo) -> Result<(), Errno> {
        let clock = |name: &[u8], freq_mhz| {
            let mut clock = Clock {
                freq_mhz,
                ..Clock::default()
            };
            clock.name[..name.len()].copy_from_slice(name);
            clock
        };
        let clocks = ClockMetadata {
            mp_npu_clock: clock(b"MP-NPU Clock", 600),
            h_clock: clock(b"H Clock", 1024),
        };
        let array: AieMetadata = self.spec.array;
        let version: AieVersion = array.version;
        let answer = match a.param {
            query::AIE_METADATA => view(&array),
            query::AIE_VERSION => view(&version),
            query::CLOCK_METADATA => view(&clocks),
            _ => return Err(Errno::OPNOTSUPP),
        };
        let bytes = answer.len().min(a.buffer_size as usize);
        write(a.buffer, &answer[..bytes])?;
        a.buffer_size = u32::try_from(bytes).map_err(|_| Errno::INVAL)?;
        Ok(())
    }

    fn create_context(&self, a: &mut CreateHwctx) -> Result<(), Errno> {
        if a.ext != 0 || a.ext_flags != 0 {
            return Err(Errno::INVAL);
        }
        read::<Qos>(a.qos_p, 1)?;
        let rows = u32::from(self.spec.array.core.row_count);
        let columns = a.num_tiles / rows;
        let most = u32::from(self.spec.array.cols) - self.spec.first_column;
        if columns == 0 || columns > most {
            return Err(Errno::INVAL);
        }
        let mut contexts = self.contexts.lock();
        if contexts.len() >= self.spec.most_contexts {
            return Err(Errno::NOENT);
        }
        let mut buffers = self.buffers.lock();
        // The firmware is told where the process has the heap.
        if !buffers.heap_is_mapped()? {
            return Err(Errno::INVAL);
        }
        let slots = buffers.take_slots(4)?;
        drop(buffers);
        let mut last = self.last_context.lock();
        *last = *last % 1024 + 1;
        while contexts.contains_key(&last) {
            *last = *last % 1024 + 1;
        }
        a.handle = *last;
        a.syncobj_handle = match self.spec.personality {
            Personality::OutOfTree => 0,
            Personality::Mainline => 0x100 + *last,
        };
        a.umq_doorbell = u32::MAX;
        let made = Context::new(
            &self.spec,
            columns,
            a.syncobj_handle,
            slots,
            &self.buffers,
            &self.log,
            &self.hold,
        );
        contexts.insert(a.handle, made);
        Ok(())
    }

    fn destroy_context(&self, a: &mut DestroyHwctx) -> Result<(), Errno> {
        if a.pad != 0 {
            return Err(Errno::INVAL);
        }
        let mut context = self.contexts.lock().remove(&a.handle).ok_or(Errno::INVAL)?;
        context.end();
        self.buffers.lock().give_slots(&context.slots);
        Ok(())
    }

    /// Takes everything down, as when the file is closed.
    pub(crate) fn end(&self) {
        let contexts = std::mem::take(&mut *self.contexts.lock());
        for (_, mut context) in contexts {
            context.end();
        }
    }

    fn configure(&self, a: &mut ConfigHwctx) -> Result<(), Errno> {
        let contexts = self.contexts.lock();
        let context = contexts.get(&a.handle).ok_or(Errno::INVAL)?;
        if a.param_type != accel::CONFIG_CU || a.pad != 0 {
            return Err(Errno::INVAL);
        }
        if a.param_val_size > 4096 {
            return Err(Errno::from_raw_os_error(libc::E2BIG));
        }
        let header = read::<u16>(a.param_val, 4)?;
        let count = usize::from(header[0]);
        if !(1..=accel::MOST_IMAGES).contains(&count) || header[1..] != [0; 3] {
            return Err(Errno::INVAL);
        }
        if (a.param_val_size as usize) < 8 + count * size_of::<CuConfig>() {
            return Err(Errno::INVAL);
        }
        let buffers = self.buffers.lock();
        let mut addresses = Vec::new();
        for image in read::<CuConfig>(a.param_val + 8, count)? {
            let bo = buffers.get(image.cu_bo).ok_or(Errno::NOENT)?;
            if bo.kind != accel::bo::DEV || image.pad != [0; 3] {
                return Err(Errno::INVAL);
            }
            addresses.push(Buffers::device_address(bo));
        }
        context.shared.set_images(addresses)
    }

    fn execute(&self, a: &mut ExecCmd) -> Result<(), Errno> {
        if a.ext != 0 || a.ext_flags != 0 || a.cmd_type != 0 || a.cmd_count != 1 || a.arg_count > MOST_USES {
            return Err(Errno::INVAL);
        }
        let shared = Arc::clone(&self.contexts.lock().get(&a.hwctx).ok_or(Errno::INVAL)?.shared);
        let uses = read::<u32>(a.args, a.arg_count as usize)?;
        let handle = u32::try_from(a.cmd_handles).map_err(|_| Errno::NOENT)?;
        let buffers = self.buffers.lock();
        let mut sorted = uses.clone();
        sorted.sort_unstable();
        if sorted.windows(2).any(|pair| pair[0] == pair[1]) {
            // A buffer cannot be locked twice.
            return Err(Errno::ALREADY);
        }
        if uses.iter().any(|&handle| buffers.get(handle).is_none()) {
            return Err(Errno::NOENT);
        }
        let bo = buffers.get(handle).ok_or(Errno::NOENT)?;
        if bo.kind != accel::bo::CMD {
            return Err(Errno::INVAL);
        }
        let memory = Arc::clone(&bo.memory);
        crate::command::check(&memory, &buffers)?;
        drop(buffers);
        a.seq = shared.give(Command { memory, uses });
        Ok(())
    }

    fn wait(&self, a: &mut WaitCmd) -> Result<(), Errno> {
        if self.spec.personality == Personality::Mainline {
            return Err(Errno::OPNOTSUPP);
        }
        let shared = Arc::clone(&self.contexts.lock().get(&a.hwctx).ok_or(Errno::INVAL)?.shared);
        let until = (a.timeout != 0).then(|| Instant::now() + Duration::from_millis(a.timeout.into()));
        waited(&shared.wait(a.seq, until))
    }

    fn wait_on_timeline(&self, a: &mut SyncobjTimelineWait) -> Result<(), Errno> {
        if a.count_handles != 1 || a.flags != 0 || a.pad != 0 {
            return Err(Errno::INVAL);
        }
        let timeline = read::<u32>(a.handles, 1)?[0];
        let point = read::<u64>(a.points, 1)?[0];
        let shared = {
            let contexts = self.contexts.lock();
            let found = contexts
                .values()
                .find(|context| context.timeline == timeline && timeline != 0);
            Arc::clone(&found.ok_or(Errno::NOENT)?.shared)
        };
        let mut now = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        // SAFETY: the room is there.
        unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
        let left = a.timeout_nsec - now.tv_sec * 1_000_000_000 - now.tv_nsec;
        let left = Duration::from_nanos(u64::try_from(left).unwrap_or(0));
        waited(&shared.wait(point, Some(Instant::now() + left)))
    }
}

fn waited(found: &Waited) -> Result<(), Errno> {
    match found {
        Waited::Done => Ok(()),
        Waited::TimedOut => Err(Errno::TIME),
        Waited::Never => Err(Errno::INVAL),
    }
}
