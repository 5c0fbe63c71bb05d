//! Images from a vendor's own description, for buffers that come from graphics.
//!
//! The image extension makes them, through the runtime. Without one no description fits any agent, which is what
//! INVALID_ARGUMENT says here.

use crate::args::{address, Call};
use crate::entry::{argument, ensure, entries, Failure, Outcome};
use hansa_plugin_api::hsa::{
    hsa_access_permission_t, hsa_agent_t, hsa_amd_image_descriptor_t, hsa_ext_image_descriptor_t,
    hsa_ext_image_descriptor_v2_t, hsa_ext_image_t, hsa_status_t,
};
use hansa_plugin_api::ImageRequest;
use std::ffi::c_void;

entries! {
    /// Makes an image.
    fn hsa_amd_image_create(
        call; agent: hsa_agent_t, image_descriptor: *const hsa_ext_image_descriptor_t,
        image_layout: *const hsa_amd_image_descriptor_t, image_data: *const c_void,
        access_permission: hsa_access_permission_t, image: *mut hsa_ext_image_t,
    ) {
        argument(!image_layout.is_null())?;
        let request = ImageRequest {
            agent: agent.handle,
            descriptor: address(image_descriptor),
            layout: address(image_layout),
            data: address(image_data),
            permission: access_permission.0,
            version: 1,
        };
        create(call, &request, image)
    }

    /// Makes an image, whose layout may be unknown.
    fn hsa_amd_image_create_v2(
        call; agent: hsa_agent_t, image_descriptor: *const hsa_ext_image_descriptor_v2_t,
        image_layout: *const hsa_amd_image_descriptor_t, image_data: *const c_void,
        access_permission: hsa_access_permission_t, image: *mut hsa_ext_image_t,
    ) {
        let request = ImageRequest {
            agent: agent.handle,
            descriptor: address(image_descriptor),
            layout: address(image_layout),
            data: address(image_data),
            permission: access_permission.0,
            version: 2,
        };
        create(call, &request, image)
    }
}

fn create(call: &Call, request: &ImageRequest, image: *mut hsa_ext_image_t) -> Outcome {
    use hsa_access_permission_t as Permission;
    let result = call.out(image)?;
    argument(request.descriptor != 0 && request.data != 0)?;
    let permission = Permission(request.permission);
    argument(matches!(
        permission,
        Permission::RO | Permission::WO | Permission::RW
    ))?;
    ensure(request.agent != 0, hsa_status_t::ERROR_INVALID_AGENT)?;
    match call.runtime().image_create(request).map_err(Failure::from) {
        Ok(handle) => {
            result.set(hsa_ext_image_t { handle });
            Ok(())
        }
        Err(absent) if absent.status() == hsa_status_t::ERROR_NOT_SUPPORTED => argument(false),
        Err(failure) => Err(failure),
    }
}
