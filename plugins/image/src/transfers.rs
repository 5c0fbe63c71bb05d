//! Copies between images and memory, between images, and fills. The host makes them, so they are over when the
//! function returns.

use crate::entry::{argument, entries, not_zero, Failure, Outcome};
use crate::format::{Format, Number};
use crate::geometry::has_slices;
use crate::module::{Image, Module};
use crate::texel::{encode, recode, MAX_BYTES};
use hansa_plugin_api::hsa::{
    hsa_agent_t, hsa_dim3_t, hsa_ext_image_channel_order_t as Order, hsa_ext_image_channel_type_t as Type,
    hsa_ext_image_geometry_t as Geometry, hsa_ext_image_region_t, hsa_ext_image_t, hsa_status_t,
};
use std::ffi::c_void;

/// A box of an image, with where the host sees the image.
struct Part<'a> {
    image: &'a Image,
    host: u64,
    region: hsa_ext_image_region_t,
}

impl<'a> Part<'a> {
    /// INVALID_ARGUMENT for a box that is not in the image; ERROR for memory that the host cannot see, or whose order
    /// only the hardware knows.
    fn new(module: &Module, image: &'a Image, offset: hsa_dim3_t, range: hsa_dim3_t) -> Outcome<Self> {
        let region = image.extent.region(offset, range);
        let region = region.ok_or(Failure::Status(hsa_status_t::ERROR_INVALID_ARGUMENT))?;
        Ok(Self {
            image,
            host: module.seen_by_host(image.address)?,
            region,
        })
    }

    /// Bytes of a row.
    fn row_bytes(&self) -> u64 {
        u64::from(self.region.range.x) * self.image.format.bytes()
    }

    /// The number of each row, as `[row, slice]` from 0, and the host's address of its first element.
    fn rows(&self) -> Outcome<impl Iterator<Item = ([u32; 2], u64)> + use<'_>> {
        let layout = self.image.layout.ok_or(Failure::Status(hsa_status_t::ERROR))?;
        let hsa_ext_image_region_t { offset, range } = self.region;
        let numbers = (0..range.z).flat_map(move |z| (0..range.y).map(move |y| [y, z]));
        Ok(numbers.map(move |[y, z]| {
            let at = [offset.x, offset.y + y, offset.z + z];
            let inside = layout.offset(&self.image.extent, &self.image.format, at);
            ([y, z], self.host + inside)
        }))
    }
}

/// How the elements of a box lie in memory of the program.
struct Pitches {
    row: u64,
    slice: u64,
}

impl Pitches {
    /// Pitches that are too small for a box mean the least ones. In a 1D array the layer is the row of a box, and the
    /// slice pitch leads to the next.
    fn new(part: &Part<'_>, row: usize, slice: usize) -> Self {
        let row = (row as u64).max(part.row_bytes());
        match part.image.extent.geometry {
            Geometry::GEOMETRY_1DA => Self {
                row: row.max(slice as u64),
                slice: 0,
            },
            geometry if has_slices(geometry) => Self {
                row,
                slice: (slice as u64).max(row.saturating_mul(part.region.range.y.into())),
            },
            _ => Self { row, slice: 0 },
        }
    }

    fn at(&self, memory: u64, [y, z]: [u32; 2]) -> u64 {
        memory + u64::from(z) * self.slice + u64::from(y) * self.row
    }
}

/// What happens to elements on their way from one image to another.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Change {
    None,
    ToSrgb,
    FromSrgb,
}

/// How elements of one format become those of another: they are the same, but for the sRGB curve.
fn change(from: &Format, to: &Format) -> Option<Change> {
    let plain =
        |format: &Format| format.channel_order == Order::RGBA && format.channel_type == Type::UNORM_INT8;
    match (from.number == Number::Srgb, to.number == Number::Srgb) {
        (true, false) if plain(to) => Some(Change::FromSrgb),
        (false, true) if plain(from) => Some(Change::ToSrgb),
        _ => {
            let same = from.channel_order == to.channel_order && from.channel_type == to.channel_type;
            same.then_some(Change::None)
        }
    }
}

fn copy_row(from: u64, to: u64, bytes: u64, change: Change) {
    if change == Change::None {
        // SAFETY: rows of two images, whose memory the program vouches for.
        return unsafe { crate::memory::copy(from, to, bytes) };
    }
    for at in (0..bytes).step_by(4) {
        let mut element = [0; 4];
        // SAFETY: as above.
        unsafe { crate::memory::read(from + at, &mut element) };
        let element = recode(element, change == Change::ToSrgb);
        // SAFETY: as above.
        unsafe { crate::memory::write(to + at, &element) };
    }
}

entries! {
    /// Copies memory of the program into a box of an image.
    fn hsa_ext_image_import(
        call; agent: hsa_agent_t, src_memory: *const c_void, src_row_pitch: usize,
        src_slice_pitch: usize, dst_image: hsa_ext_image_t, image_region: *const hsa_ext_image_region_t,
    ) {
        not_zero(agent.handle)?;
        let memory = call.address(src_memory)?;
        let region = call.read(image_region)?;
        call.agent(agent.handle)?;
        let image = call.image(dst_image.handle)?;
        let part = Part::new(call, &image, region.offset, region.range)?;
        let pitches = Pitches::new(&part, src_row_pitch, src_slice_pitch);
        let memory = call.seen_by_host(memory)?;
        for (number, row) in part.rows()? {
            // SAFETY: a row of the program's memory and one of an image, for which the program vouches.
            unsafe { crate::memory::copy(pitches.at(memory, number), row, part.row_bytes()) };
        }
        Ok(())
    }

    /// Copies a box of an image into memory of the program.
    fn hsa_ext_image_export(
        call; agent: hsa_agent_t, src_image: hsa_ext_image_t, dst_memory: *mut c_void,
        dst_row_pitch: usize, dst_slice_pitch: usize, image_region: *const hsa_ext_image_region_t,
    ) {
        not_zero(agent.handle)?;
        let memory = call.address(dst_memory)?;
        let region = call.read(image_region)?;
        call.agent(agent.handle)?;
        let image = call.image(src_image.handle)?;
        let part = Part::new(call, &image, region.offset, region.range)?;
        let pitches = Pitches::new(&part, dst_row_pitch, dst_slice_pitch);
        let memory = call.seen_by_host(memory)?;
        for (number, row) in part.rows()? {
            // SAFETY: as above.
            unsafe { crate::memory::copy(row, pitches.at(memory, number), part.row_bytes()) };
        }
        Ok(())
    }

    /// Copies a box between images of one agent.
    fn hsa_ext_image_copy(
        call; agent: hsa_agent_t, src_image: hsa_ext_image_t, src_offset: *const hsa_dim3_t,
        dst_image: hsa_ext_image_t, dst_offset: *const hsa_dim3_t, range: *const hsa_dim3_t,
    ) {
        not_zero(agent.handle)?;
        let (from_offset, to_offset) = (call.read(src_offset)?, call.read(dst_offset)?);
        let range = call.read(range)?;
        call.agent(agent.handle)?;
        let (from, to) = (call.image(src_image.handle)?, call.image(dst_image.handle)?);
        argument(from.agent == to.agent)?;
        let change = change(&from.format, &to.format).ok_or(Failure::Status(hsa_status_t::ERROR_INVALID_ARGUMENT))?;
        let source = Part::new(call, &from, from_offset, range)?;
        let target = Part::new(call, &to, to_offset, range)?;
        // A layer of a 1D array is a row of a box as one of a 2D image is, so rows correspond.
        argument(source.region.range.x == target.region.range.x
            && source.region.range.y == target.region.range.y
            && source.region.range.z == target.region.range.z)?;
        for ((_, from), (_, to)) in source.rows()?.zip(target.rows()?) {
            copy_row(from, to, source.row_bytes(), change);
        }
        Ok(())
    }

    /// Fills a box of an image with one colour.
    fn hsa_ext_image_clear(
        call; agent: hsa_agent_t, image: hsa_ext_image_t, data: *const c_void,
        image_region: *const hsa_ext_image_region_t,
    ) {
        not_zero(agent.handle)?;
        argument(!data.is_null())?;
        let region = call.read(image_region)?;
        call.agent(agent.handle)?;
        let image = call.image(image.handle)?;
        // Depth has one channel, everything else four.
        let colour = if image.format.channel_order == Order::DEPTH {
            [call.read(data.cast::<u32>())?, 0, 0, 0]
        } else {
            call.read(data.cast::<[u32; 4]>())?
        };
        let part = Part::new(call, &image, region.offset, region.range)?;
        let element = encode(&image.format, colour);
        let bytes = usize::try_from(image.format.bytes()).map_or(MAX_BYTES, |bytes| bytes.min(MAX_BYTES));
        let columns = usize::try_from(region.range.x).unwrap_or(0);
        let row: Vec<u8> = element[..bytes].repeat(columns);
        for (_, to) in part.rows()? {
            // SAFETY: a row of an image, for whose memory the program vouches.
            unsafe { crate::memory::write(to, &row) };
        }
        Ok(())
    }
}
