//! A queue's hardware context, and batches of dispatches on it.
//!
//! A context is told its images of the array once. So it is made when the first dispatch comes, and made anew when one names
//! another image; an image is known by its buffer, and one whose buffer is freed is forgotten. Dispatches that follow one
//! another go to the kernel as one chain.

use super::command::{state_name, Command, Ending};
use super::packet::{Argument, Dispatch};
use crate::config::CacheFlush;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::ioctl::Hwctx;
use crate::memory::{Buffer, Memory};
use crate::uapi::accel::MOST_IMAGES;
use hansa_plugin_api::sys::Errno;
use std::sync::{Arc, Weak};

/// Most operations in a cycle that a context asks for.
const MOST_OPERATIONS: u32 = 0x800;
/// How long a wait for the device lasts before it is looked whether the queue is to end.
const WAIT_MS: u32 = 50;
/// Bytes of a line of the host's caches, at least.
const LINE_BYTES: u64 = 64;

/// What is wrong with a dispatch.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refusal {
    /// Its image is not one.
    #[error("the image at {0:#x} is not the start of an allocation of the device heap")]
    Image(u64),
    /// Its code is not where the device can read it.
    #[error("{} bytes of instructions at {:#x} are in no allocation of the device heap", .0.bytes, .0.address)]
    Code(Argument),
    /// An argument is not where the device can reach it.
    #[error("argument {index}, {} bytes at {:#x}, is in no allocation of this NPU's pools", .argument.bytes, .argument.address)]
    Argument {
        /// Which.
        index: usize,
        /// What.
        argument: Argument,
    },
}

/// A dispatch with what it names.
#[derive(Debug)]
pub(crate) struct Prepared {
    image: Arc<Buffer>,
    code: (Arc<Buffer>, Argument),
    arguments: Vec<(Arc<Buffer>, Argument)>,
}

impl Prepared {
    /// Finds what a dispatch names.
    pub(crate) fn new(
        dispatch: &Dispatch,
        device: &Arc<Device>,
        memory: &Memory,
    ) -> std::result::Result<Self, Refusal> {
        let find = |range: Argument| {
            let found = memory.find(range.address, range.bytes)?;
            Arc::ptr_eq(found.device(), device).then_some((found, range))
        };
        let at = dispatch.image;
        let image = memory
            .find(at, 1)
            .filter(|image| image.in_heap && image.address == at && Arc::ptr_eq(image.device(), device));
        let code = find(dispatch.code).filter(|(buffer, _)| buffer.in_heap);
        let arguments = dispatch.arguments.iter().enumerate();
        Ok(Self {
            image: image.ok_or(Refusal::Image(at))?,
            code: code.ok_or(Refusal::Code(dispatch.code))?,
            arguments: arguments
                .map(|(index, &argument)| find(argument).ok_or(Refusal::Argument { index, argument }))
                .collect::<std::result::Result<_, _>>()?,
        })
    }

    /// The handles of the buffers that the command uses.
    fn uses(&self) -> impl Iterator<Item = u32> + '_ {
        let arguments = self.arguments.iter().map(|(buffer, _)| buffer.handle);
        [self.code.0.handle].into_iter().chain(arguments)
    }
}

/// How a batch ended.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// All of it.
    Completed,
    /// So many went well, and the next did not.
    Failed {
        /// How many.
        completed: usize,
        /// Whether the device ran it.
        by_device: bool,
        /// What happened.
        message: String,
    },
    /// The queue ends: nobody waits any more.
    Stopped,
}

#[derive(Debug)]
struct Live {
    hwctx: Hwctx,
    priority: u32,
    images: Vec<Weak<Buffer>>,
}

/// A queue's context, if it has one now, and buffers for its commands.
#[derive(Debug)]
pub(crate) struct Context {
    device: Arc<Device>,
    flush: CacheFlush,
    live: Option<Live>,
    commands: Vec<Command>,
    chain: Option<Command>,
}

fn is(image: &Weak<Buffer>, buffer: &Arc<Buffer>) -> bool {
    std::ptr::eq(image.as_ptr(), Arc::as_ptr(buffer))
}

impl Context {
    pub(crate) fn new(device: Arc<Device>, flush: CacheFlush) -> Self {
        Self {
            device,
            flush,
            live: None,
            commands: Vec::new(),
            chain: None,
        }
    }

    /// Takes the context down, if there is one. Nothing of it runs any more.
    pub(crate) fn end(&mut self) {
        if let Some(live) = self.live.take() {
            self.device.end_context(live.hwctx);
        }
    }

    /// Makes a context that knows these images.
    fn make(&mut self, priority: u32, images: &[Arc<Buffer>]) -> Result<()> {
        let mut wanted: Vec<Arc<Buffer>> = images.to_vec();
        // Those of before may come again.
        let before = self.live.iter().flat_map(|live| &live.images);
        for image in before.filter_map(Weak::upgrade) {
            let known = wanted.iter().any(|other| Arc::ptr_eq(other, &image));
            if !known && wanted.len() < MOST_IMAGES {
                wanted.push(image);
            }
        }
        self.end();
        let accel = self.device.accel();
        let candidate = &self.device.candidate;
        let rows = u32::from(candidate.array.core.row_count);
        let all = candidate.core_tiles();
        let tiles = u32::from(candidate.array.cols).saturating_sub(1) * rows;
        let hwctx = match accel.create_hwctx(all, MOST_OPERATIONS, priority) {
            // A column that no context gets.
            Err(error) if error.errno() == Some(Errno::INVAL) && tiles != all => {
                accel.create_hwctx(tiles, MOST_OPERATIONS, priority)?
            }
            other => other?,
        };
        let handles: Vec<u32> = wanted.iter().map(|image| image.handle).collect();
        if let Err(error) = accel.configure_images(hwctx.handle, &handles) {
            self.device.end_context(hwctx);
            return Err(error);
        }
        self.live = Some(Live {
            hwctx,
            priority,
            images: wanted.iter().map(Arc::downgrade).collect(),
        });
        Ok(())
    }

    /// Makes sure of a context that knows the images of a batch. Answers it.
    fn ensure(&mut self, batch: &[Prepared], priority: u32) -> Result<Hwctx> {
        if let Some(live) = &self.live {
            let knows = |one: &Prepared| live.images.iter().any(|image| is(image, &one.image));
            if live.priority == priority && batch.iter().all(knows) {
                return Ok(live.hwctx);
            }
        }
        let mut images: Vec<Arc<Buffer>> = Vec::new();
        for one in batch {
            if !images.iter().any(|image| Arc::ptr_eq(image, &one.image)) {
                images.push(Arc::clone(&one.image));
            }
        }
        self.make(priority, &images)?;
        self.live.as_ref().map(|live| live.hwctx).ok_or(Error::NotOpen)
    }

    fn image_index(&self, image: &Arc<Buffer>) -> usize {
        let images = self.live.iter().flat_map(|live| &live.images);
        images.into_iter().position(|other| is(other, image)).unwrap_or(0)
    }

    /// Makes buffers for so many commands, and for the chain of more than one.
    fn ensure_commands(&mut self, count: usize) -> Result<()> {
        while self.commands.len() < count {
            self.commands.push(Command::new(&self.device)?);
        }
        if count > 1 && self.chain.is_none() {
            self.chain = Some(Command::new(&self.device)?);
        }
        Ok(())
    }

    /// Runs a batch. `stops` says whether nobody waits any more.
    pub(crate) fn run(&mut self, batch: &[Prepared], priority: u32, stops: &dyn Fn() -> bool) -> Outcome {
        match self.try_run(batch, priority, stops) {
            Ok(outcome) => outcome,
            Err(error) => {
                self.end();
                Outcome::Failed {
                    completed: 0,
                    by_device: false,
                    message: hansa_plugin_api::Error::from(error).to_string(),
                }
            }
        }
    }

    fn try_run(&mut self, batch: &[Prepared], priority: u32, stops: &dyn Fn() -> bool) -> Result<Outcome> {
        let hwctx = self.ensure(batch, priority)?;
        self.ensure_commands(batch.len())?;
        let mut uses: Vec<u32> = Vec::new();
        for (one, command) in batch.iter().zip(&self.commands) {
            let (buffer, code) = &one.code;
            let code = Argument {
                address: buffer.at_device(code.address),
                ..*code
            };
            let arguments = one.arguments.iter();
            let arguments: Vec<u64> = arguments
                .map(|(buffer, argument)| buffer.at_device(argument.address))
                .collect();
            command.put_run(self.image_index(&one.image), code, &arguments);
            // The kernel locks each buffer, once.
            for handle in one.uses() {
                if !uses.contains(&handle) {
                    uses.push(handle);
                }
            }
        }
        let commands = &self.commands[..batch.len()];
        let top = match &self.chain {
            Some(chain) if batch.len() > 1 => {
                chain.put_chain(commands);
                chain
            }
            _ => &commands[0],
        };
        for one in batch {
            self.write_back(&one.image, one.image.address, one.image.bytes)?;
            self.write_back(&one.code.0, one.code.1.address, one.code.1.bytes)?;
            self.write_back_arguments(one)?;
        }
        let accel = self.device.accel();
        let seq = accel.exec(hwctx.handle, top.handle(), &uses)?;
        while !accel.wait(hwctx, seq, WAIT_MS)? {
            if stops() {
                self.end();
                return Ok(Outcome::Stopped);
            }
        }
        // The host may have read lines while the device wrote what is in them.
        for one in batch {
            self.write_back_arguments(one)?;
        }
        let what = match top.ending() {
            Ending::Completed => return Ok(Outcome::Completed),
            Ending::Failed(state) => format!("the device reports {} (state {state})", state_name(state)),
            Ending::Not(state) => format!("the kernel says that a command is over, and its state is {state}"),
        };
        let completed = if batch.len() > 1 { top.error_index() } else { 0 };
        self.end();
        Ok(Outcome::Failed {
            completed: completed.min(batch.len() - 1),
            by_device: true,
            message: what,
        })
    }

    fn write_back_arguments(&self, one: &Prepared) -> Result<()> {
        let mut arguments = one.arguments.iter();
        arguments.try_for_each(|(buffer, argument)| self.write_back(buffer, argument.address, argument.bytes))
    }

    /// Writes the host's caches of a range back and drops them.
    fn write_back(&self, buffer: &Buffer, address: u64, bytes: u64) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        if self.flush == CacheFlush::Processor && flush_lines(address, bytes) {
            return Ok(());
        }
        let offset = address - buffer.address;
        self.device.accel().sync_bo(buffer.handle, offset, bytes)
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        self.end();
    }
}

/// Flushes lines of the host's caches. Answers whether this processor lets a program do that.
#[cfg(target_arch = "x86_64")]
fn flush_lines(address: u64, bytes: u64) -> bool {
    use std::arch::x86_64::{_mm_clflush, _mm_mfence};
    // SAFETY: every processor of this architecture has the instruction.
    unsafe { _mm_mfence() };
    for line in (address & !(LINE_BYTES - 1)..address + bytes).step_by(64) {
        // SAFETY: the range lies in a buffer that is mapped, and lines do not cross pages.
        unsafe { _mm_clflush(crate::device::pointer(line)) };
    }
    // SAFETY: as above.
    unsafe { _mm_mfence() };
    true
}

/// Flushes lines of the host's caches. Answers whether this processor lets a program do that.
#[cfg(not(target_arch = "x86_64"))]
fn flush_lines(_address: u64, _bytes: u64) -> bool {
    false
}
