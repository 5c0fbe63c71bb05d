//! Typed calls: one function per request, Rust values in and out. Nothing else touches the kernel's structures.

use crate::error::{Error, Result};
use crate::uapi::accel::{
    self, query, AieMetadata, AieVersion, ClockMetadata, ConfigHwctx, CreateBo, CreateHwctx, CuConfig,
    CuConfigs, DestroyHwctx, ExecCmd, GetBoInfo, GetInfo, Qos, SyncBo, WaitCmd,
};
use crate::uapi::drm::{
    GemClose, PrimeFdToHandle, PrimeHandleToFd, SyncobjTimelineWait, Version, PRIME_FLAGS,
};
use crate::uapi::Request;
use hansa_plugin_api::sys::{Errno, File, System};
use std::path::Path;
use std::sync::Arc;

/// How often a call is repeated that a signal interrupted.
const MOST_RETRIES: u32 = 1 << 10;
/// Most bytes of a driver's name that are looked at.
const NAME_BYTES: usize = 64;

/// An open accel node. Closed when dropped.
#[derive(Debug)]
pub struct Accel {
    system: Arc<dyn System>,
    file: File,
    place: String,
}

impl Drop for Accel {
    fn drop(&mut self) {
        self.system.close(self.file);
    }
}

/// Where a buffer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoPlace {
    /// Offset for `mmap`.
    pub map_offset: u64,
    /// Where the process sees it.
    pub address: u64,
    /// Where the device sees it.
    pub device_address: u64,
}

/// A hardware context as the kernel made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hwctx {
    /// Its handle.
    pub handle: u32,
    /// The timeline of its commands, or 0.
    pub timeline: u32,
}

fn address_of<T>(item: &mut T) -> u64 {
    std::ptr::from_mut(item).expose_provenance() as u64
}

fn bytes_of<T>() -> u32 {
    u32::try_from(size_of::<T>()).unwrap_or(u32::MAX)
}

impl Accel {
    /// Opens a node.
    ///
    /// # Errors
    ///
    /// [`Error::Open`] with the likely cause.
    pub fn open(system: &Arc<dyn System>, path: &Path) -> Result<Self> {
        let mut tries = 0;
        loop {
            match system.open(path, true) {
                Ok(file) => {
                    return Ok(Self {
                        system: Arc::clone(system),
                        file,
                        place: path.display().to_string(),
                    })
                }
                Err(Errno::INTR) if tries < MOST_RETRIES => tries += 1,
                Err(errno) => {
                    return Err(Error::Open {
                        path: path.into(),
                        errno,
                        because: crate::error::likely_cause(errno),
                    })
                }
            }
        }
    }

    /// Closes the file in a child process, where whoever holds this object is never told; it must then be forgotten.
    pub fn abandon(&self) {
        self.system.close(self.file);
    }

    /// The file.
    #[must_use]
    pub const fn file(&self) -> File {
        self.file
    }

    /// Its path.
    #[must_use]
    pub fn place(&self) -> &str {
        &self.place
    }

    /// The system it is of.
    #[must_use]
    pub fn system(&self) -> &Arc<dyn System> {
        &self.system
    }

    /// Runs a request on a structure whose pointers, if it has any, are good for what the request does.
    fn call<R: Request>(&self, argument: &mut R) -> Result<()> {
        let mut tries = 0;
        loop {
            let at = std::ptr::from_mut(argument).cast();
            // SAFETY: `Request` pairs the number with the structure.
            match unsafe { self.system.ioctl(self.file, R::CODE, at) } {
                Ok(_) => return Ok(()),
                Err(Errno::INTR) if tries < MOST_RETRIES => tries += 1,
                Err(errno) => {
                    return Err(Error::Ioctl {
                        request: R::NAME,
                        errno,
                        place: self.place.clone(),
                    })
                }
            }
        }
    }

    /// The name of the kernel's driver, and its version.
    ///
    /// # Errors
    ///
    /// [`Error::Ioctl`].
    pub fn version(&self) -> Result<(String, i32, i32)> {
        let mut name = [0_u8; NAME_BYTES];
        let mut argument = Version {
            name_len: NAME_BYTES as u64,
            name: address_of(&mut name),
            ..Version::default()
        };
        self.call(&mut argument)?;
        let length = usize::try_from(argument.name_len).map_or(NAME_BYTES, |length| length.min(NAME_BYTES));
        let text = String::from_utf8_lossy(&name[..length]).into_owned();
        Ok((text, argument.version_major, argument.version_minor))
    }

    fn info<T: Default>(&self, param: u32) -> Result<T> {
        let mut answer = T::default();
        let mut argument = GetInfo {
            param,
            buffer_size: bytes_of::<T>(),
            buffer: address_of(&mut answer),
        };
        self.call(&mut argument)?;
        if argument.buffer_size > bytes_of::<T>() {
            return Err(Error::Nonsense {
                request: GetInfo::NAME,
                what: format!("{} bytes for a room of {}", argument.buffer_size, bytes_of::<T>()),
            });
        }
        Ok(answer)
    }

    /// The version of the array's hardware.
    ///
    /// # Errors
    ///
    /// [`Error::Ioctl`], [`Error::Nonsense`].
    pub fn aie_version(&self) -> Result<AieVersion> {
        self.info(query::AIE_VERSION)
    }

    /// The array.
    ///
    /// # Errors
    ///
    /// [`Error::Ioctl`], [`Error::Nonsense`].
    pub fn metadata(&self) -> Result<AieMetadata> {
        self.info(query::AIE_METADATA)
    }

    /// The clocks.
    ///
    /// # Errors
    ///
    /// [`Error::Ioctl`], [`Error::Nonsense`].
    pub fn clocks(&self) -> Result<ClockMetadata> {
        self.info(query::CLOCK_METADATA)
    }

    /// Makes a buffer of a kind of [`accel::bo`]. Answers its handle.
    ///
    /// # Errors
    ///
    /// [`Error::Ioctl`].
    pub fn create_bo(&self, bo_type: u32, size: u64) -> Result<u32> {
        let mut argument = CreateBo {
            size,
            bo_type,
            ..CreateBo::default()
        };
        self.call(&mut argument)?;
        if argument.handle == 0 {
            return Err(Error::Nonsense {
                request: CreateBo::NAME,
                what: "handle 0".into(),
            });
        }
        Ok(argument.handle)
    }

    /// Where a buffer is.
    ///
    /// # Errors
    ///
    /// [`Error::Ioctl`].
    pub fn bo_place(&self, handle: u32) -> Result<BoPlace> {
        let mut argument = GetBoInfo {
            handle,
            ..GetBoInfo::default()
        };
        self.call(&mut argument)?;
        Ok(BoPlace {
            map_offset: argument.map_offset,
            address: argument.vaddr,
            device_address: argument.xdna_addr,
        })
    }

    /// Writes the host's caches of a range of a buffer back and drops them.
    ///
    /// # Errors
    ///
    /// [`Error::Ioctl`].
    pub fn sync_bo(&self, handle: u32, offset: u64, size: u64) -> Result<()> {
        self.call(&mut SyncBo {
            handle,
            // Both directions do the same to plain buffers; the other one also asks the firmware for debug data.
            direction: 0,
            offset,
            size,
        })
    }

    /// Gives a buffer handle back.
    ///
    /// # Errors
    ///
    /// [`Error::Ioctl`].
    pub fn close_bo(&self, handle: u32) -> Result<()> {
        self.call(&mut GemClose { handle, pad: 0 })
    }

    /// Makes a dma-buf of a buffer. Answers the file descriptor, which is the caller's.
    ///
    /// # Errors
    ///
    /// [`Error::Ioctl`], [`Error::Nonsense`].
    pub fn export_bo(&self, handle: u32) -> Result<i32> {
        let mut argument = PrimeHandleToFd {
            handle,
            flags: PRIME_FLAGS,
            fd: -1,
        };
        self.call(&mut argument)?;
        if argument.fd < 0 {
            return Err(Error::Nonsense {
                request: PrimeHandleToFd::NAME,
                what: format!("file {}", argument.fd),
            });
        }
        Ok(argument.fd)
    }

    /// Makes a buffer handle of a dma-buf, or finds the one there is.
    ///
    /// # Errors
    ///
    /// [`Error::Ioctl`].
    pub fn import_bo(&self, fd: i32) -> Result<u32> {
        let mut argument = PrimeFdToHandle {
            fd,
            ..PrimeFdToHandle::default()
        };
        self.call(&mut argument)?;
        Ok(argument.handle)
    }

    /// Makes a hardware context of so many core tiles.
    ///
    /// # Errors
    ///
    /// [`Error::Ioctl`], [`Error::Nonsense`].
    pub fn create_hwctx(&self, num_tiles: u32, max_opc: u32, priority: u32) -> Result<Hwctx> {
        let mut qos = Qos {
            priority,
            ..Qos::default()
        };
        let mut argument = CreateHwctx {
            qos_p: address_of(&mut qos),
            max_opc,
            num_tiles,
            ..CreateHwctx::default()
        };
        self.call(&mut argument)?;
        if argument.handle == 0 {
            return Err(Error::Nonsense {
                request: CreateHwctx::NAME,
                what: "handle 0".into(),
            });
        }
        Ok(Hwctx {
            handle: argument.handle,
            timeline: argument.syncobj_handle,
        })
    }

    /// Takes a hardware context down.
    ///
    /// # Errors
    ///
    /// [`Error::Ioctl`].
    pub fn destroy_hwctx(&self, handle: u32) -> Result<()> {
        self.call(&mut DestroyHwctx { handle, pad: 0 })
    }

    /// Gives a hardware context the images of the array that its commands use; once. At most [`accel::MOST_IMAGES`].
    ///
    /// # Errors
    ///
    /// [`Error::Ioctl`].
    pub fn configure_images(&self, handle: u32, images: &[u32]) -> Result<()> {
        let mut configs = CuConfigs {
            num_cus: u16::try_from(images.len()).unwrap_or(u16::MAX),
            ..CuConfigs::default()
        };
        for (config, &cu_bo) in configs.configs.iter_mut().zip(images) {
            *config = CuConfig {
                cu_bo,
                ..CuConfig::default()
            };
        }
        let used = std::mem::offset_of!(CuConfigs, configs) + images.len() * size_of::<CuConfig>();
        self.call(&mut ConfigHwctx {
            handle,
            param_type: accel::CONFIG_CU,
            param_val: address_of(&mut configs),
            param_val_size: u32::try_from(used).unwrap_or(u32::MAX),
            pad: 0,
        })
    }

    /// Hands a command to a hardware context, with all buffers that it uses, each once. Answers its number.
    ///
    /// # Errors
    ///
    /// [`Error::Ioctl`].
    pub fn exec(&self, hwctx: u32, command: u32, uses: &[u32]) -> Result<u64> {
        let mut argument = ExecCmd {
            hwctx,
            cmd_handles: command.into(),
            args: uses.as_ptr().expose_provenance() as u64,
            cmd_count: 1,
            arg_count: u32::try_from(uses.len()).unwrap_or(u32::MAX),
            ..ExecCmd::default()
        };
        self.call(&mut argument)?;
        Ok(argument.seq)
    }

    /// Waits for a command of a context, at most so many milliseconds. Answers whether it is over.
    ///
    /// # Errors
    ///
    /// [`Error::Ioctl`].
    pub fn wait(&self, hwctx: Hwctx, seq: u64, timeout_ms: u32) -> Result<bool> {
        let waited = if hwctx.timeline == 0 {
            self.call(&mut WaitCmd {
                hwctx: hwctx.handle,
                timeout: timeout_ms,
                seq,
            })
        } else {
            self.wait_for_point(hwctx.timeline, seq, timeout_ms)
        };
        match waited {
            Ok(()) => Ok(true),
            Err(Error::Ioctl {
                errno: Errno::TIME | Errno::TIMEDOUT,
                ..
            }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn wait_for_point(&self, timeline: u32, point: u64, timeout_ms: u32) -> Result<()> {
        let (mut timeline, mut point) = (timeline, point);
        self.call(&mut SyncobjTimelineWait {
            handles: address_of(&mut timeline),
            points: address_of(&mut point),
            timeout_nsec: monotonic_ns().saturating_add(i64::from(timeout_ms) * 1_000_000),
            count_handles: 1,
            ..SyncobjTimelineWait::default()
        })
    }
}

/// The monotonic clock, whose time such waits end at.
fn monotonic_ns() -> i64 {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the clock is one that every system has, and the room is there.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
    now.tv_sec
        .saturating_mul(1_000_000_000)
        .saturating_add(now.tv_nsec)
}
