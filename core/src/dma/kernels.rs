//! Copies by compute units: kernels of the driver on a queue of the runtime.
//!
//! The driver gives an image for its device ([`api::Attribute::COPY_CODE`] says what is in it), which is put into host
//! memory that the device sees. A range is cut into pieces of which each is a dispatch: the bytes before the first whole
//! unit, the units, and the bytes after the last one. Dispatches run beside each other; a packet with the barrier bit
//! announces the end of all.

use super::{fill_word, rows};
use crate::agent::DeviceRef;
use crate::error::{Error, Result};
use crate::memory::shown::ShownPages;
use crate::queue::own::Packet;
use crate::queue::Queue;
use crate::runtime::Runtime;
use crate::words::halves;
use hansa_plugin_api as api;
use hansa_plugin_api::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

/// Packets of the queue; one of them announces the end.
const PACKETS: u32 = 256;
/// Most dispatches that are under way.
const MOST_PIECES: usize = PACKETS as usize - 1;
/// Bytes that the arguments of a dispatch take.
const ARGUMENT_BYTES: u64 = 32;
/// Work-items of a group.
const GROUP: u64 = 256;
/// Most work-items of a dispatch.
const MOST_ITEMS: u64 = 1 << 18;
/// Most bytes of a dispatch: with what all its work-items move at once they stay below 4 GiB.
const MOST_BYTES: u64 = 1 << 30;
/// Bytes of a kernel's descriptor.
const DESCRIPTOR_BYTES: u64 = 64;

/// Words of packets: the header with the number of dimensions, and scopes of the system before and after.
mod header {
    const SYSTEM: u32 = 2 << 9 | 2 << 11;
    pub(super) const BARRIER_BIT: u32 = 1 << 8;
    pub(super) const DISPATCH: u32 = 2 | SYSTEM | 1 << 16;
    pub(super) const BARRIER: u32 = 3 | SYSTEM | BARRIER_BIT;
}

/// The kernels, in the order of the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kernel {
    Copy16,
    Copy4,
    Copy1,
    Fill4,
}

impl Kernel {
    /// Bytes of what a work-item moves at once.
    const fn unit(self) -> u64 {
        match self {
            Self::Copy16 => 16,
            Self::Copy4 | Self::Fill4 => 4,
            Self::Copy1 => 1,
        }
    }
}

/// What one dispatch does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Piece {
    kernel: Kernel,
    to: u64,
    /// Where it reads, or the word it writes.
    from: u64,
    bytes: u64,
}

impl Piece {
    /// Work-items in whole groups.
    fn items(&self) -> u64 {
        (self.bytes / self.kernel.unit())
            .min(MOST_ITEMS)
            .next_multiple_of(GROUP)
    }
}

/// Cuts a range that one kernel moves.
fn cut(out: &mut Vec<Piece>, kernel: Kernel, to: u64, from: u64, bytes: u64) {
    let mut done = 0;
    while done < bytes {
        let part = (bytes - done).min(MOST_BYTES);
        let from = if kernel == Kernel::Fill4 {
            from
        } else {
            from + done
        };
        out.push(Piece {
            kernel,
            to: to + done,
            from,
            bytes: part,
        });
        done += part;
    }
}

/// Cuts a copy: the largest units that lie alike at both ends.
fn cut_copy(out: &mut Vec<Piece>, to: u64, from: u64, bytes: u64) {
    let apart = to ^ from;
    let kernel = [Kernel::Copy16, Kernel::Copy4]
        .into_iter()
        .find(|kernel| apart.is_multiple_of(kernel.unit()))
        .unwrap_or(Kernel::Copy1);
    let before = (to.next_multiple_of(kernel.unit()) - to).min(bytes);
    let whole = (bytes - before) / kernel.unit() * kernel.unit();
    let rest = before + whole;
    cut(out, Kernel::Copy1, to, from, before);
    cut(out, kernel, to + before, from + before, whole);
    cut(out, Kernel::Copy1, to + rest, from + rest, bytes - rest);
}

/// The kernels of a device, ready to run.
#[derive(Debug)]
pub(super) struct Kernels {
    queue: Arc<Queue>,
    /// The image, and behind it arguments for each packet.
    pages: ShownPages,
    arguments: u64,
    /// One batch at a time.
    using: Mutex<()>,
    failed: AtomicBool,
}

/// A driver's image for an agent's device.
fn image(runtime: &Runtime, agent: usize) -> Option<&[u8]> {
    let description = &runtime.agents[agent].device()?.description;
    let number = |key| usize::try_from(description.attribute(key)?).ok();
    let address = number(api::Attribute::COPY_CODE).filter(|address| *address != 0)?;
    let bytes = number(api::Attribute::COPY_CODE_BYTES)?;
    // SAFETY: the driver says that so many bytes lie there as long as it is open, which is as long as the runtime.
    Some(unsafe { std::slice::from_raw_parts(std::ptr::with_exposed_provenance(address), bytes) })
}

impl Kernels {
    /// Makes the queue and puts the kernels where the device finds them.
    pub(super) fn create(runtime: &Arc<Runtime>, device: DeviceRef) -> Result<Self> {
        let unsupported = Error::NotSupported("kernels that copy on this device");
        let is_agent = |agent: &usize| {
            let of = runtime.agents[*agent].device().map(|of| of.reference);
            of == Some(device)
        };
        let agent = (0..runtime.agents.len()).find(is_agent);
        let found = agent.and_then(|agent| Some((agent, image(runtime, agent)?)));
        let (agent, image) = found.ok_or(unsupported)?;
        let room = (image.len() as u64).next_multiple_of(DESCRIPTOR_BYTES);
        let bytes = room + u64::from(PACKETS) * ARGUMENT_BYTES;
        let pages = ShownPages::new(
            runtime,
            device.driver,
            usize::try_from(bytes).unwrap_or(usize::MAX),
        )?;
        let to = std::ptr::with_exposed_provenance_mut::<u8>(pages.address);
        // SAFETY: the pages were just made, and have room for it.
        unsafe { std::ptr::copy_nonoverlapping(image.as_ptr(), to, image.len()) };
        let queue = Queue::create_own(runtime, agent, PACKETS).and_then(|queue| {
            // Other code may have lain there before.
            let told = runtime.code_written(agent);
            told.inspect_err(|_| queue.destroy(runtime)).map(|()| queue)
        });
        let queue = queue.inspect_err(|_| {
            // SAFETY: no queue reads them.
            unsafe { pages.take_back(runtime) };
        })?;
        Ok(Self {
            queue,
            arguments: pages.address as u64 + room,
            pages,
            using: Mutex::new(()),
            failed: AtomicBool::new(false),
        })
    }

    /// Takes the queue down. Nobody copies with it any more.
    pub(super) fn destroy(&self, runtime: &Runtime) {
        self.queue.destroy(runtime);
        // SAFETY: the queue that read them is gone.
        unsafe { self.pages.take_back(runtime) };
    }

    /// What is under way may never end; who waits for it is told.
    pub(super) fn fail(&self) {
        self.failed.store(true, Ordering::Release);
    }

    /// Whether the device reported an error.
    pub(super) fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Acquire) || self.queue.is_inactive()
    }

    /// Does a copy or fill between places that the device sees, row by row; returns when it is done.
    ///
    /// # Errors
    ///
    /// [`Error::Failed`] when the device reported an error meanwhile.
    pub(super) fn run(&self, request: &api::CopyRequest) -> Result<()> {
        let fills = request.flags.contains(api::CopyFlags::FILL);
        let mut pieces = Vec::new();
        for (to, from) in rows(request) {
            if fills {
                let word = u64::from(fill_word(request));
                cut(&mut pieces, Kernel::Fill4, to, word, request.row_bytes & !3);
            } else {
                cut_copy(&mut pieces, to, from, request.row_bytes);
            }
            while pieces.len() >= MOST_PIECES {
                let rest = pieces.split_off(MOST_PIECES);
                self.batch(&pieces)?;
                pieces = rest;
            }
        }
        self.batch(&pieces)
    }

    fn batch(&self, pieces: &[Piece]) -> Result<()> {
        if pieces.is_empty() {
            return Ok(());
        }
        let _using = self.using.lock();
        let mut packets: Vec<Packet> = (0..)
            .zip(pieces)
            .map(|(i, piece)| self.packet(i, piece))
            .collect();
        match &mut packets[..] {
            [only] => only[0] |= header::BARRIER_BIT,
            _ => {
                let mut last = [0; 16];
                last[0] = header::BARRIER;
                packets.push(last);
            }
        }
        self.queue
            .run_own(&mut packets, || self.has_failed())
            .map_err(|_| Error::Failed("the device reported an error while it copied"))
    }

    /// The packet of a piece, its arguments in place.
    fn packet(&self, slot: u64, piece: &Piece) -> Packet {
        let items = piece.items();
        let low = |value: u64| halves(value)[0];
        let stride = low(items * piece.kernel.unit());
        let arguments = self.arguments + slot * ARGUMENT_BYTES;
        let ([to, to_high], [from, from_high]) = (halves(piece.to), halves(piece.from));
        let words = [to, to_high, from, from_high, low(piece.bytes), stride];
        let at = std::ptr::with_exposed_provenance_mut::<[u32; 6]>(usize::try_from(arguments).unwrap_or(0));
        // SAFETY: a place for arguments that no packet under way uses, in pages that live as long as this.
        unsafe { at.write(words) };
        let kernel = self.pages.address as u64 + piece.kernel as u64 * DESCRIPTOR_BYTES;
        let ([kernel, kernel_high], [arguments, arguments_high]) = (halves(kernel), halves(arguments));
        let mut packet = [0; 16];
        packet[..6].copy_from_slice(&[header::DISPATCH, low(GROUP | 1 << 16), 1, low(items), 1, 1]);
        packet[8..12].copy_from_slice(&[kernel, kernel_high, arguments, arguments_high]);
        packet
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copied(to: u64, from: u64, bytes: u64) -> Vec<Piece> {
        let mut pieces = Vec::new();
        cut_copy(&mut pieces, to, from, bytes);
        pieces
    }

    #[test]
    fn pieces_cover_a_range_once_in_whole_units() {
        for (to, from, bytes) in [
            (0x1000, 0x2000, 4096),
            (0x1003, 0x2003, 4096),
            (0x1003, 0x2007, 4099),
            (0x1001, 0x2000, 77),
            (0x100f, 0x200f, 1),
            (0x1001, 0x2001, 3),
            (0x1000, 0x9_0000_0000, (5 << 30) + 7),
        ] {
            let mut next = 0;
            for piece in copied(to, from, bytes) {
                let unit = piece.kernel.unit();
                assert_eq!((piece.to, piece.from), (to + next, from + next));
                assert!(piece.bytes != 0 && piece.bytes.is_multiple_of(unit));
                assert!(piece.to.is_multiple_of(unit) && piece.from.is_multiple_of(unit));
                assert!(piece.bytes + piece.items() * unit < 1 << 32);
                next += piece.bytes;
            }
            assert_eq!(next, bytes);
        }
    }

    #[test]
    fn large_units_are_used_where_both_ends_allow_it() {
        let kernels = |to, from| {
            copied(to, from, 64)
                .iter()
                .map(|piece| piece.kernel)
                .collect::<Vec<_>>()
        };
        assert_eq!(kernels(0x1000, 0x2000), [Kernel::Copy16]);
        assert_eq!(
            kernels(0x1008, 0x2008),
            [Kernel::Copy1, Kernel::Copy16, Kernel::Copy1]
        );
        assert_eq!(kernels(0x1004, 0x2008), [Kernel::Copy4]);
        assert_eq!(kernels(0x1002, 0x2001), [Kernel::Copy1]);
    }

    #[test]
    fn a_fill_repeats_its_word() {
        let mut pieces = Vec::new();
        cut(&mut pieces, Kernel::Fill4, 0x1000, 0xdead_beef, (2 << 30) + 8);
        let words: Vec<_> = pieces.iter().map(|piece| piece.from).collect();
        assert_eq!(words, [0xdead_beef; 3]);
        assert_eq!(pieces[2].bytes, 8);
    }
}
