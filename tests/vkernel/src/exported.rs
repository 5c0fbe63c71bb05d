//! Memory that left its process: dma-buf files, and the names of AMD's own kernel module.
//!
//! A real kernel knows every process. This one is in each of them, so an exported file says at its beginning whose memory
//! it is; another process finds the exporter's file of the device by the exporter's number (`/proc/PID/fd`) and maps
//! the same pages. The exporter has to live until then.

use crate::buffers::Backing;
use crate::files::DeviceFile;
use crate::kernel::{Kernel, Which};
use crate::Errno;
use std::sync::Arc;

/// What an exported file begins with.
const MAGIC: u64 = 0x6861_6e73_6142_7546;
/// Words at the beginning of an exported file.
const WORDS: usize = 8;

/// Memory that was exported.
#[derive(Debug)]
pub struct Exported {
    pub(crate) file: DeviceFile,
    pub(crate) shared: Shared,
}

/// Memory that can be taken.
#[derive(Clone, Debug)]
pub struct Shared {
    /// Its bytes.
    pub(crate) backing: Arc<Backing>,
    /// How many.
    pub(crate) bytes: u64,
    /// Its GPU.
    pub(crate) gpu: usize,
    /// Kind and attributes.
    pub(crate) flags: u32,
    /// What the one who exported it by a name noted, for the one who takes it.
    pub(crate) note: u32,
}

/// Makes a file for memory; answers a descriptor.
pub(crate) fn export(kernel: &Kernel, shared: Shared, close_on_exec: bool) -> Result<i32, Errno> {
    let Backing::File { gpu, offset, .. } = &*shared.backing else {
        return Err(Errno::INVAL);
    };
    let file = DeviceFile::new(c"vkernel-dmabuf")?;
    // SAFETY: takes nothing and cannot fail.
    let process = unsafe { libc::getpid() };
    let word = |value: i32| u64::try_from(value).unwrap_or(0);
    let words: [u64; WORDS] = [
        MAGIC,
        word(process),
        word(kernel.renders[*gpu].lock().descriptor()),
        *offset,
        shared.bytes,
        kernel.machine.gpus[shared.gpu].gpu_id.into(),
        shared.flags.into(),
        shared.note.into(),
    ];
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
    file.write(&bytes)?;
    let fd = file.open(close_on_exec)?;
    kernel.exported.lock().push(Exported { file, shared });
    Ok(fd)
}

/// The memory of an exported file, of this process or another.
pub(crate) fn of_file(kernel: &Kernel, fd: i32) -> Result<Shared, Errno> {
    match kernel.which(fd) {
        Some(Which::Dmabuf(index)) => {
            let exported = kernel.exported.lock();
            return exported
                .get(index)
                .map(|exported| exported.shared.clone())
                .ok_or(Errno::BADF);
        }
        Some(_) => return Err(Errno::INVAL),
        None => {}
    }
    let mut bytes = [0; WORDS * 8];
    crate::files::read_at(fd, &mut bytes)?;
    let word = |i: usize| {
        bytes[i * 8..]
            .first_chunk()
            .map_or(0, |word| u64::from_ne_bytes(*word))
    };
    if word(0) != MAGIC {
        return Err(Errno::BADF);
    }
    let small = |i| u32::try_from(word(i)).map_err(|_| Errno::BADF);
    let gpu = kernel.gpu(small(5)?)?;
    let file = DeviceFile::of_process(word(1), word(2))?;
    let (offset, bytes) = (word(3), word(4));
    let view = file.view(offset, bytes)?;
    Ok(Shared {
        backing: Arc::new(Backing::Foreign { file, offset, view }),
        bytes,
        gpu,
        flags: small(6)?,
        note: small(7)?,
    })
}

/// The memory of an exported file that another process has open under a number.
pub(crate) fn of_process(kernel: &Kernel, process: u32, fd: u32) -> Result<Shared, Errno> {
    // SAFETY: takes nothing and cannot fail.
    let own = unsafe { libc::getpid() };
    if u32::try_from(own) == Ok(process) {
        return of_file(kernel, i32::try_from(fd).map_err(|_| Errno::INVAL)?);
    }
    let opened = DeviceFile::of_process(process.into(), fd.into()).map_err(|_| Errno::INVAL)?;
    of_file(kernel, opened.descriptor())
}
