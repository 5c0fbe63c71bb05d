//! What formats can do, what memory images need, and images themselves.

use crate::args::Promise;
use crate::descriptor::Surface;
use crate::entry::{argument, ensure, entries, not_zero, Failure, Outcome};
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
    fn pitched(&self, row: usize, slice: usize) -> Outcome<Layout> {
        Layout::pitched(&self.extent, &self.format, row as u64, slice as u64)
            .ok_or(Failure::Status(hsa_status_t::EXT_ERROR_IMAGE_PITCH_UNSUPPORTED))
    }

    fn tight(&self) -> Layout {
        Layout::tight(&self.extent, &self.format)
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
fn data(promise: Promise, image_data: *const c_void) -> Outcome<u64> {
    let address = promise.address(image_data)?;
    argument(address % ALIGNMENT == 0)?;
    Ok(address)
}

/// The first version of a description. SIZE_UNSUPPORTED for mip levels: images here have one.
fn without_levels(description: &hsa_ext_image_descriptor_v2_t) -> Outcome<hsa_ext_image_descriptor_t> {
    ensure(
        description.mipmap_levels <= 1,
        hsa_status_t::EXT_ERROR_IMAGE_SIZE_UNSUPPORTED,
    )?;
    Ok(hsa_ext_image_descriptor_t {
        geometry: description.geometry,
        width: description.width,
        height: description.height,
        depth: description.depth,
        array_size: description.array_size,
        format: description.format,
    })
}

entries! {
    /// Tells what an agent can do with a format.
    fn hsa_ext_image_get_capability(
        module, promise; agent: hsa_agent_t, geometry: Geometry, image_format: *const hsa_ext_image_format_t,
        capability_mask: *mut u32,
    ) {
        not_zero(agent.handle)?;
        let place = promise.out(capability_mask)?;
        let format = promise.read(image_format)?;
        argument(is_geometry(geometry))?;
        place.set(capability(module, agent.handle, geometry, format)?);
        Ok(())
    }

    /// Tells what an agent can do with a format in a layout.
    fn hsa_ext_image_get_capability_with_layout(
        module, promise; agent: hsa_agent_t, geometry: Geometry, image_format: *const hsa_ext_image_format_t,
        image_data_layout: DataLayout, capability_mask: *mut u32,
    ) {
        not_zero(agent.handle)?;
        let place = promise.out(capability_mask)?;
        let format = promise.read(image_format)?;
        argument(is_geometry(geometry) && image_data_layout == DataLayout::LINEAR)?;
        place.set(capability(module, agent.handle, geometry, format)?);
        Ok(())
    }

    /// Tells which memory an image needs.
    fn hsa_ext_image_data_get_info(
        module, promise; agent: hsa_agent_t, image_descriptor: *const hsa_ext_image_descriptor_t,
        access_permission: Permission, image_data_info: *mut hsa_ext_image_data_info_t,
    ) {
        not_zero(agent.handle)?;
        let place = promise.out(image_data_info)?;
        let description = promise.read(image_descriptor)?;
        permitted(access_permission)?;
        place.set(NO_INFO);
        place.set(data_info(&wanted(module, agent.handle, &description)?.tight()));
        Ok(())
    }

    /// Tells which memory an image with pitches needs.
    fn hsa_ext_image_data_get_info_with_layout(
        module, promise; agent: hsa_agent_t, image_descriptor: *const hsa_ext_image_descriptor_t,
        access_permission: Permission, image_data_layout: DataLayout, image_data_row_pitch: usize,
        image_data_slice_pitch: usize, image_data_info: *mut hsa_ext_image_data_info_t,
    ) {
        not_zero(agent.handle)?;
        let place = promise.out(image_data_info)?;
        let description = promise.read(image_descriptor)?;
        permitted(access_permission)?;
        argument(image_data_layout == DataLayout::LINEAR)?;
        place.set(NO_INFO);
        let wanted = wanted(module, agent.handle, &description)?;
        place.set(data_info(&wanted.pitched(image_data_row_pitch, image_data_slice_pitch)?));
        Ok(())
    }

    /// Makes an image over memory of the program.
    fn hsa_ext_image_create(
        module, promise; agent: hsa_agent_t, image_descriptor: *const hsa_ext_image_descriptor_t,
        image_data: *const c_void, access_permission: Permission, image: *mut hsa_ext_image_t,
    ) {
        not_zero(agent.handle)?;
        let place = promise.out(image)?;
        let description = promise.read(image_descriptor)?;
        let address = data(promise, image_data)?;
        permitted(access_permission)?;
        place.set(NO_IMAGE);
        let wanted = wanted(module, agent.handle, &description)?;
        let layout = wanted.tight();
        place.set(wanted.create(module, agent.handle, layout, address)?);
        Ok(())
    }

    /// Makes an image with pitches over memory of the program.
    fn hsa_ext_image_create_with_layout(
        module, promise; agent: hsa_agent_t, image_descriptor: *const hsa_ext_image_descriptor_t,
        image_data: *const c_void, access_permission: Permission, image_data_layout: DataLayout,
        image_data_row_pitch: usize, image_data_slice_pitch: usize, image: *mut hsa_ext_image_t,
    ) {
        not_zero(agent.handle)?;
        let place = promise.out(image)?;
        let description = promise.read(image_descriptor)?;
        let address = data(promise, image_data)?;
        permitted(access_permission)?;
        argument(image_data_layout == DataLayout::LINEAR)?;
        place.set(NO_IMAGE);
        let wanted = wanted(module, agent.handle, &description)?;
        let layout = wanted.pitched(image_data_row_pitch, image_data_slice_pitch)?;
        place.set(wanted.create(module, agent.handle, layout, address)?);
        Ok(())
    }

    /// Ends an image, not its memory.
    fn hsa_ext_image_destroy(module, _promise; agent: hsa_agent_t, image: hsa_ext_image_t) {
        not_zero(agent.handle)?;
        module.agent(agent.handle)?;
        module.remove_image(image.handle)
    }

    /// Tells which memory an image needs whose description may have mip levels.
    fn hsa_ext_image_data_get_info_v2(
        module, promise; agent: hsa_agent_t, image_descriptor: *const hsa_ext_image_descriptor_v2_t,
        access_permission: Permission, image_data_info: *mut hsa_ext_image_data_info_t,
    ) {
        not_zero(agent.handle)?;
        let place = promise.out(image_data_info)?;
        let description = promise.read(image_descriptor)?;
        permitted(access_permission)?;
        place.set(NO_INFO);
        let wanted = wanted(module, agent.handle, &without_levels(&description)?)?;
        place.set(data_info(&wanted.tight()));
        Ok(())
    }

    /// Makes an image whose description may have mip levels.
    fn hsa_ext_image_create_v2(
        module, promise; agent: hsa_agent_t, image_descriptor: *const hsa_ext_image_descriptor_v2_t,
        image_data: *const c_void, access_permission: Permission, image: *mut hsa_ext_image_t,
    ) {
        not_zero(agent.handle)?;
        let place = promise.out(image)?;
        let description = promise.read(image_descriptor)?;
        let address = data(promise, image_data)?;
        permitted(access_permission)?;
        place.set(NO_IMAGE);
        let wanted = wanted(module, agent.handle, &without_levels(&description)?)?;
        let layout = wanted.tight();
        place.set(wanted.create(module, agent.handle, layout, address)?);
        Ok(())
    }

    /// Ends an image, not its memory.
    fn hsa_ext_image_destroy_v2(module, _promise; agent: hsa_agent_t, image: hsa_ext_image_t) {
        not_zero(agent.handle)?;
        module.agent(agent.handle)?;
        module.remove_image(image.handle)
    }
}
