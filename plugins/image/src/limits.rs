//! Attributes of agents that images add (`hsa_ext_agent_info_t`).
//!
//! The header calls most of them `size_t`; AMD's runtime writes 32 bits each, and programs give room for no more.

use crate::entry::{entries, not_zero, Outcome};
use crate::geometry::{MAX_2D, MAX_BUFFER, MAX_SLICES};
use crate::layout::ALIGNMENT;
use crate::module::Module;
use hansa_plugin_api::hsa::{hsa_agent_info_t, hsa_agent_t, hsa_ext_agent_info_t as Info};
use std::ffi::c_void;

/// Read-only images that may live at the same time, as AMD's runtime says; there is no such limit here.
const READ_HANDLES: u32 = 128;
/// The same for other images.
const WRITE_HANDLES: u32 = 64;
/// The same for samplers.
const SAMPLERS: u32 = 16;

/// The value of an attribute, or `None` if it is none of ours. Agents without texture hardware have zeroes.
pub(crate) fn attribute_value(module: &Module, agent: u64, attribute: u32) -> Outcome<Option<Vec<u8>>> {
    let words: &[u32] = match Info(attribute) {
        Info::IMAGE_1D_MAX_ELEMENTS | Info::IMAGE_1DA_MAX_ELEMENTS => &[MAX_2D],
        Info::IMAGE_1DB_MAX_ELEMENTS => &[MAX_BUFFER],
        Info::IMAGE_2D_MAX_ELEMENTS
        | Info::IMAGE_2DA_MAX_ELEMENTS
        | Info::IMAGE_2DDEPTH_MAX_ELEMENTS
        | Info::IMAGE_2DADEPTH_MAX_ELEMENTS => &[MAX_2D; 2],
        Info::IMAGE_3D_MAX_ELEMENTS => &[MAX_2D, MAX_2D, MAX_SLICES],
        Info::IMAGE_ARRAY_MAX_LAYERS => &[MAX_SLICES],
        Info::MAX_IMAGE_RD_HANDLES => &[READ_HANDLES],
        Info::MAX_IMAGE_RORW_HANDLES => &[WRITE_HANDLES],
        Info::MAX_SAMPLER_HANDLERS => &[SAMPLERS],
        // The one that is `size_t`, for no runtime ever wrote less.
        Info::IMAGE_LINEAR_ROW_PITCH_ALIGNMENT => {
            let there = module.hardware(agent)?.is_some();
            return Ok(Some((if there { ALIGNMENT } else { 0 }).to_ne_bytes().to_vec()));
        }
        _ => return Ok(None),
    };
    let there = module.hardware(agent)?.is_some();
    let shown = words.iter().map(|word| if there { *word } else { 0 });
    Ok(Some(shown.flat_map(u32::to_ne_bytes).collect()))
}

entries! {
    /// Tells a limit of an agent, of those that are sizes.
    fn hsa_amd_image_get_info_max_dim(
        call; agent: hsa_agent_t, attribute: hsa_agent_info_t, value: *mut c_void,
    ) {
        not_zero(agent.handle)?;
        let place = call.value(value)?;
        let sizes = Info::IMAGE_1D_MAX_ELEMENTS.0..=Info::IMAGE_ARRAY_MAX_LAYERS.0;
        crate::entry::argument(sizes.contains(&attribute.0))?;
        if let Some(bytes) = attribute_value(call, agent.handle, attribute.0)? {
            place.put_all(&bytes);
        }
        Ok(())
    }
}
