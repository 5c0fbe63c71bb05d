//! What formats can do, what memory images need, and images themselves.

use crate::descriptor::Surface;
use crate::entry::{argument, ensure, entries, not_zero, Call, Failure, Outcome};
use crate::format::Format;
use crate::geometry::{is_geometry, Extent};
use crate::layout::{Layout, ALIGNMENT};
use crate::module::{Hardware, Image, Module};
use hansa_plugin_api::hsa::{
    hsa_access_permission_t as Permission, hsa_agent_t, hsa_ext_image_data_info_t,
    hsa_ext_image_data_layout_t as DataLayout, hsa_ext_image_descriptor_t, hsa_ext_image_descriptor_v2_t,
    hsa_ext_image_format_t, hsa_ext_image_geometry_t as Geometry, hsa_ext_image_t, hsa_status_t,
};
use std::ffi::c_void;

/// An image that an agent can have.
#[derive(Debug)]
pub(crate) struct Wanted {
    /// The agent's hardware.
    pub(crate) hardware: Hardware,
    /// Size.
    pub(crate) extent: Extent,
    /// Format.
    pub(crate) format: Format,
}

/// Makes an image of a level of another, over the same memory. Images have one level, 0, which has the size of the
/// whole; the description may give its elements another format of the same size.
fn level(
    call: &Call,
    agent: hsa_agent_t,
    whole: *const hsa_ext_image_t,
    number: u32,
    description: *const hsa_ext_image_descriptor_v2_t,
    image: *mut hsa_ext_image_t,
) -> Outcome {
    not_zero(agent.handle)?;
    call.agent(agent.handle)?;
    let place = call.out(image)?;
    let whole = call.image(call.read(whole)?.handle)?;
    let description = call.read(description)?.without_levels()?;
    argument(number == 0)?;
    let wanted = wanted(call, agent.handle, &description)?;
    argument(wanted.extent == whole.extent && wanted.format.bytes() == whole.format.bytes())?;
    let layout = whole
        .layout
        .ok_or(Failure::Status(hsa_status_t::ERROR_INVALID_ARGUMENT))?;
    place.set(wanted.create(call, agent.handle, layout, whole.address)?);
    Ok(())
}

/// What an agent can do with a format: nothing, if it does not know it.
fn capability(
    module: &Module,
    agent: u64,
    geometry: Geometry,
    format: hsa_ext_image_format_t,
) -> Outcome<u32> {
    if module.hardware(agent)?.is_none() {
        return Ok(0);
    }
    Ok(Format::new(format).map_or(0, |format| format.capability(geometry)))
}

/// Judges a description. INVALID_ARGUMENT for what is no geometry; FORMAT_UNSUPPORTED, SIZE_UNSUPPORTED.
pub(crate) fn wanted(
    module: &Module,
    agent: u64,
    description: &hsa_ext_image_descriptor_t,
) -> Outcome<Wanted> {
    argument(is_geometry(description.geometry))?;
    let unsupported = Failure::Status(hsa_status_t::EXT_ERROR_IMAGE_FORMAT_UNSUPPORTED);
    let format =
        Format::new(description.format).filter(|format| format.capability(description.geometry) != 0);
    let (Some(hardware), Some(format)) = (module.hardware(agent)?, format) else {
        return Err(unsupported);
    };
    let sizes = [
        description.width,
        description.height,
        description.depth,
        description.array_size,
    ];
    let extent = Extent::new(description.geometry, sizes)
        .ok_or(Failure::Status(hsa_status_t::EXT_ERROR_IMAGE_SIZE_UNSUPPORTED))?;
    Ok(Wanted {
        hardware,
        extent,
        format,
    })
}

/// Refuses what is no permission.
pub(crate) fn permitted(permission: Permission) -> Outcome {
    argument(matches!(
        permission,
        Permission::RO | Permission::WO | Permission::RW
    ))
}

impl Wanted {
    fn layout(&self, rows: Rows) -> Outcome<Layout> {
        match rows {
            Rows::Tight => Ok(Layout::tight(&self.extent, &self.format)),
            Rows::Pitched { row, slice, .. } => {
                Layout::pitched(&self.extent, &self.format, row as u64, slice as u64)
                    .ok_or(Failure::Status(hsa_status_t::EXT_ERROR_IMAGE_PITCH_UNSUPPORTED))
            }
        }
    }

    fn create(self, module: &Module, agent: u64, layout: Layout, address: u64) -> Outcome<hsa_ext_image_t> {
        let surface = Surface {
            extent: &self.extent,
            format: &self.format,
            layout: &layout,
            address,
        };
        let words = self
            .hardware
            .chip
            .image(&surface)
            .ok_or(Failure::Status(hsa_status_t::EXT_ERROR_IMAGE_PITCH_UNSUPPORTED))?;
        let image = Image {
            agent,
            extent: self.extent,
            format: self.format,
            layout: Some(layout),
            address,
        };
        Ok(hsa_ext_image_t {
            handle: module.add_image(image, &words)?,
        })
    }
}

/// The memory of a layout.
fn data_info(layout: &Layout) -> hsa_ext_image_data_info_t {
    #[expect(clippy::cast_possible_truncation, reason = "the host has 64 bits")]
    hsa_ext_image_data_info_t {
        size: layout.size as usize,
        alignment: ALIGNMENT as usize,
    }
}

const NO_INFO: hsa_ext_image_data_info_t = hsa_ext_image_data_info_t {
    size: 0,
    alignment: 0,
};
const NO_IMAGE: hsa_ext_image_t = hsa_ext_image_t { handle: 0 };

/// An image's memory: not NULL and aligned.
fn data(call: &Call, image_data: *const c_void) -> Outcome<u64> {
    let address = call.address(image_data)?;
    argument(address % ALIGNMENT == 0)?;
    Ok(address)
}

/// How the rows of an image lie in its memory.
#[derive(Clone, Copy)]
enum Rows {
    /// As this extension chooses.
    Tight,
    /// As the program says, in bytes.
    Pitched {
        kind: DataLayout,
        row: usize,
        slice: usize,
    },
}

/// A version of a description.
trait Description: Copy {
    /// The first version. SIZE_UNSUPPORTED for mip levels: images here have one.
    fn without_levels(self) -> Outcome<hsa_ext_image_descriptor_t>;
}

impl Description for hsa_ext_image_descriptor_t {
    fn without_levels(self) -> Outcome<hsa_ext_image_descriptor_t> {
        Ok(self)
    }
}

impl Description for hsa_ext_image_descriptor_v2_t {
    fn without_levels(self) -> Outcome<hsa_ext_image_descriptor_t> {
        ensure(
            self.mipmap_levels <= 1,
            hsa_status_t::EXT_ERROR_IMAGE_SIZE_UNSUPPORTED,
        )?;
        Ok(hsa_ext_image_descriptor_t {
            geometry: self.geometry,
            width: self.width,
            height: self.height,
            depth: self.depth,
            array_size: self.array_size,
            format: self.format,
        })
    }
}

/// Refuses what is no permission, and layouts other than linear.
fn plain(permission: Permission, rows: Rows) -> Outcome {
    permitted(permission)?;
    match rows {
        Rows::Tight => Ok(()),
        Rows::Pitched { kind, .. } => argument(kind == DataLayout::LINEAR),
    }
}

/// Tells which memory an image needs.
fn data_get_info(
    call: &Call,
    agent: hsa_agent_t,
    description: *const impl Description,
    permission: Permission,
    rows: Rows,
    info: *mut hsa_ext_image_data_info_t,
) -> Outcome {
    not_zero(agent.handle)?;
    let place = call.out(info)?;
    let description = call.read(description)?;
    plain(permission, rows)?;
    place.set(NO_INFO);
    let wanted = wanted(call, agent.handle, &description.without_levels()?)?;
    place.set(data_info(&wanted.layout(rows)?));
    Ok(())
}

/// Makes an image over memory of the program.
fn create(
    call: &Call,
    agent: hsa_agent_t,
    description: *const impl Description,
    image_data: *const c_void,
    permission: Permission,
    rows: Rows,
    image: *mut hsa_ext_image_t,
) -> Outcome {
    not_zero(agent.handle)?;
    let place = call.out(image)?;
    let description = call.read(description)?;
    let address = data(call, image_data)?;
    plain(permission, rows)?;
    place.set(NO_IMAGE);
    let wanted = wanted(call, agent.handle, &description.without_levels()?)?;
    let layout = wanted.layout(rows)?;
    place.set(wanted.create(call, agent.handle, layout, address)?);
    Ok(())
}

entries! {
    /// Tells what an agent can do with a format.
    fn hsa_ext_image_get_capability(
        call; agent: hsa_agent_t, geometry: Geometry, image_format: *const hsa_ext_image_format_t,
        capability_mask: *mut u32,
    ) {
        not_zero(agent.handle)?;
        let place = call.out(capability_mask)?;
        let format = call.read(image_format)?;
        argument(is_geometry(geometry))?;
        place.set(capability(call, agent.handle, geometry, format)?);
        Ok(())
    }

    /// Tells what an agent can do with a format in a layout.
    fn hsa_ext_image_get_capability_with_layout(
        call; agent: hsa_agent_t, geometry: Geometry, image_format: *const hsa_ext_image_format_t,
        image_data_layout: DataLayout, capability_mask: *mut u32,
    ) {
        not_zero(agent.handle)?;
        let place = call.out(capability_mask)?;
        let format = call.read(image_format)?;
        argument(is_geometry(geometry) && image_data_layout == DataLayout::LINEAR)?;
        place.set(capability(call, agent.handle, geometry, format)?);
        Ok(())
    }

    /// Tells which memory an image needs.
    fn hsa_ext_image_data_get_info(
        call; agent: hsa_agent_t, image_descriptor: *const hsa_ext_image_descriptor_t,
        access_permission: Permission, image_data_info: *mut hsa_ext_image_data_info_t,
    ) {
        data_get_info(call, agent, image_descriptor, access_permission, Rows::Tight, image_data_info)
    }

    /// Tells which memory an image with pitches needs.
    fn hsa_ext_image_data_get_info_with_layout(
        call; agent: hsa_agent_t, image_descriptor: *const hsa_ext_image_descriptor_t,
        access_permission: Permission, image_data_layout: DataLayout, image_data_row_pitch: usize,
        image_data_slice_pitch: usize, image_data_info: *mut hsa_ext_image_data_info_t,
    ) {
        let rows = Rows::Pitched {
            kind: image_data_layout,
            row: image_data_row_pitch,
            slice: image_data_slice_pitch,
        };
        data_get_info(call, agent, image_descriptor, access_permission, rows, image_data_info)
    }

    /// Makes an image over memory of the program.
    fn hsa_ext_image_create(
        call; agent: hsa_agent_t, image_descriptor: *const hsa_ext_image_descriptor_t,
        image_data: *const c_void, access_permission: Permission, image: *mut hsa_ext_image_t,
    ) {
        create(call, agent, image_descriptor, image_data, access_permission, Rows::Tight, image)
    }

    /// Makes an image with pitches over memory of the program.
    fn hsa_ext_image_create_with_layout(
        call; agent: hsa_agent_t, image_descriptor: *const hsa_ext_image_descriptor_t,
        image_data: *const c_void, access_permission: Permission, image_data_layout: DataLayout,
        image_data_row_pitch: usize, image_data_slice_pitch: usize, image: *mut hsa_ext_image_t,
    ) {
        let rows = Rows::Pitched {
            kind: image_data_layout,
            row: image_data_row_pitch,
            slice: image_data_slice_pitch,
        };
        create(call, agent, image_descriptor, image_data, access_permission, rows, image)
    }

    /// Ends an image, not its memory.
    fn hsa_ext_image_destroy(call; agent: hsa_agent_t, image: hsa_ext_image_t) {
        not_zero(agent.handle)?;
        call.agent(agent.handle)?;
        call.remove_image(image.handle)
    }

    /// Tells which memory an image needs whose description may have mip levels.
    fn hsa_ext_image_data_get_info_v2(
        call; agent: hsa_agent_t, image_descriptor: *const hsa_ext_image_descriptor_v2_t,
        access_permission: Permission, image_data_info: *mut hsa_ext_image_data_info_t,
    ) {
        data_get_info(call, agent, image_descriptor, access_permission, Rows::Tight, image_data_info)
    }

    /// Makes an image whose description may have mip levels.
    fn hsa_ext_image_create_v2(
        call; agent: hsa_agent_t, image_descriptor: *const hsa_ext_image_descriptor_v2_t,
        image_data: *const c_void, access_permission: Permission, image: *mut hsa_ext_image_t,
    ) {
        create(call, agent, image_descriptor, image_data, access_permission, Rows::Tight, image)
    }

    /// Makes an image of a level of another.
    fn hsa_ext_image_mipmap_array_get_level(
        call; agent: hsa_agent_t, mipmapped_array: *const hsa_ext_image_t, mip_level: u32,
        image_descriptor: *const hsa_ext_image_descriptor_v2_t, level_image_out: *mut hsa_ext_image_t,
    ) {
        level(call, agent, mipmapped_array, mip_level, image_descriptor, level_image_out)
    }

    /// Ends an image, not its memory.
    fn hsa_ext_image_destroy_v2(call; agent: hsa_agent_t, image: hsa_ext_image_t) {
        not_zero(agent.handle)?;
        call.agent(agent.handle)?;
        call.remove_image(image.handle)
    }
}
