//! The copy engine: moves rows of bytes between any two places, host or device.
//!
//! Devices have the host's addresses, so a copy is a copy of memory; but a place may vanish while it is copied, so every
//! access is a guarded one, and a fault is an error with the address.

use crate::exec::guard::{self, Unmapped};
use hansa_plugin_api::{CopyFlags, CopyRequest, Error, ErrorCode};

/// Copy engines that programs can name.
pub(crate) const ENGINES: u32 = 2;
/// Most bytes of the buffer for a row that lies over its source.
const OVERLAP: u64 = 256 << 10;
/// Words of the buffer that a fill writes again and again.
const PATTERN: usize = 4096;

/// Does a copy.
pub(crate) fn run(request: &CopyRequest) -> Result<(), Error> {
    if request.flags.contains(CopyFlags::ENGINE_ONLY) && request.engine >= ENGINES {
        let message = format!(
            "There is no copy engine {}; the software GPU has {ENGINES}",
            request.engine
        );
        return Err(Error::new(ErrorCode::INVALID_ARGUMENT, message));
    }
    let shape = Shape::of(request)?;
    let result = if request.flags.contains(CopyFlags::FILL) {
        fill(&shape, request)
    } else {
        shape.each(request, |to, from| row(to, from, shape.row_bytes))
    };
    result.map_err(|Unmapped(address)| {
        let message = format!("A copy met the address {address:#x}, where there is no memory for it");
        Error::new(ErrorCode::INVALID_ARGUMENT, message)
    })
}

/// Copies a row. One that lies over the end of its source goes through a buffer, from its end on.
fn row(to: u64, from: u64, bytes: u64) -> Result<(), Unmapped> {
    if to <= from || to - from >= bytes {
        return guard::copy(to, from, bytes);
    }
    let mut buffer = vec![0_u8; usize::try_from(bytes.min(OVERLAP)).unwrap_or(0)];
    let between = buffer.as_mut_ptr().expose_provenance() as u64;
    let mut left = bytes;
    while left != 0 {
        let part = left.min(OVERLAP);
        left -= part;
        guard::copy(between, from + left, part)?;
        guard::copy(to + left, between, part)?;
    }
    Ok(())
}

/// Where a copy writes: its first byte, and how far from it the last one is at most.
pub(crate) fn destination(request: &CopyRequest) -> (u64, u64) {
    let rows = request
        .destination_row_pitch
        .saturating_mul(request.rows.saturating_sub(1));
    let slices = request
        .destination_slice_pitch
        .saturating_mul(request.slices.saturating_sub(1));
    let bytes = rows.saturating_add(slices).saturating_add(request.row_bytes);
    (request.destination, bytes)
}

/// Rows that are copied one by one.
struct Shape {
    row_bytes: u64,
    rows: u64,
    slices: u64,
}

impl Shape {
    /// The rows of a request. Rows that lie next to each other are one.
    fn of(request: &CopyRequest) -> Result<Self, Error> {
        let mut shape = Self {
            row_bytes: request.row_bytes,
            rows: request.rows,
            slices: request.slices,
        };
        for (what, base, pitches) in [
            (
                "destination",
                request.destination,
                [request.destination_row_pitch, request.destination_slice_pitch],
            ),
            (
                "source",
                request.source,
                [request.source_row_pitch, request.source_slice_pitch],
            ),
        ] {
            let is_value = what == "source" && request.flags.contains(CopyFlags::FILL);
            if !is_value && shape.end(base, pitches).is_none() {
                let message = format!("The {what} of a copy at {base:#x} reaches past the end of memory");
                return Err(Error::new(ErrorCode::INVALID_ARGUMENT, message));
            }
        }
        let fill = request.flags.contains(CopyFlags::FILL);
        let joined = |bytes, to, from| to == bytes && (fill || from == bytes);
        // A row and a fill value must end together.
        let whole = !fill || shape.row_bytes.is_multiple_of(4);
        if whole
            && joined(
                shape.row_bytes,
                request.destination_row_pitch,
                request.source_row_pitch,
            )
        {
            shape.row_bytes *= shape.rows;
            shape.rows = 1;
            if joined(
                shape.row_bytes,
                request.destination_slice_pitch,
                request.source_slice_pitch,
            ) {
                shape.row_bytes *= shape.slices;
                shape.slices = 1;
            }
        }
        Ok(shape)
    }

    /// The last address of a side, if there is one.
    fn end(&self, base: u64, [row, slice]: [u64; 2]) -> Option<u64> {
        let rows = row.checked_mul(self.rows.saturating_sub(1))?;
        let slices = slice.checked_mul(self.slices.saturating_sub(1))?;
        base.checked_add(rows)?
            .checked_add(slices)?
            .checked_add(self.row_bytes)
    }

    /// Calls `copy` with the two addresses of each row.
    fn each(
        &self,
        request: &CopyRequest,
        mut copy: impl FnMut(u64, u64) -> Result<(), Unmapped>,
    ) -> Result<(), Unmapped> {
        for slice in 0..self.slices {
            for row in 0..self.rows {
                let to = row * request.destination_row_pitch + slice * request.destination_slice_pitch;
                let from = row * request.source_row_pitch + slice * request.source_slice_pitch;
                copy(request.destination + to, request.source.wrapping_add(from))?;
            }
        }
        Ok(())
    }
}

/// Writes a 32-bit value over and over; a row that does not end with a whole value gets its first bytes.
fn fill(shape: &Shape, request: &CopyRequest) -> Result<(), Unmapped> {
    let [a, b, c, d, ..] = request.source.to_le_bytes();
    let words = usize::try_from(shape.row_bytes.div_ceil(4)).map_or(PATTERN, |words| words.min(PATTERN));
    let pattern = vec![u32::from_le_bytes([a, b, c, d]); words];
    let bytes = 4 * words as u64;
    let source = pattern.as_ptr().expose_provenance() as u64;
    shape.each(request, |to, _| {
        let mut at = 0;
        while at < shape.row_bytes {
            let step = bytes.min(shape.row_bytes - at);
            guard::copy(to + at, source, step)?;
            at += step;
        }
        Ok(())
    })
}
