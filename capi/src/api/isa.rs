//! Instruction sets and their wavefronts (HSA Runtime PRM 1.2, section 2.8).

use crate::entry::{callback, entry, go_on, text, Place, Value};
use hansa_core::code::{isa, isa_handle, wavefront, wavefront_handle};
use hansa_core::loader::{compatible, Isa, ObjectTarget, ISA_LIMITS};
use hansa_core::{current, Error, Result};
use hansa_plugin_api::hsa::{
    c_char, c_void, hsa_agent_t, hsa_dim3_t, hsa_flush_mode_t, hsa_fp_type_t, hsa_isa_info_t as Info,
    hsa_isa_t, hsa_profile_t, hsa_round_method_t, hsa_wavefront_info_t, hsa_wavefront_t, IsaCallback,
    WavefrontCallback,
};

/// Refuses values that are no profile.
pub(crate) fn known_profile(profile: hsa_profile_t) -> Result<()> {
    match profile {
        hsa_profile_t::BASE | hsa_profile_t::FULL => Ok(()),
        _ => Err(Error::InvalidArgument("not a profile")),
    }
}

/// Writes an attribute of an instruction set.
fn info(isa: Isa, attribute: Info, value: Value) -> Result<()> {
    let limits = &ISA_LIMITS;
    match attribute {
        Info::NAME_LENGTH => value.set(u32::try_from(isa.to_string().len() + 1).unwrap_or(u32::MAX)),
        Info::NAME => {
            let mut name = isa.to_string().into_bytes();
            name.push(0);
            value.set_bytes(&name);
        }
        Info::CALL_CONVENTION_COUNT => value.set(limits.call_convention_count),
        Info::CALL_CONVENTION_INFO_WAVEFRONT_SIZE => value.set(isa.wavefront_size()),
        Info::CALL_CONVENTION_INFO_WAVEFRONTS_PER_COMPUTE_UNIT => {
            value.set(limits.wavefronts_per_compute_unit);
        }
        Info::MACHINE_MODELS => value.set(limits.machine_models),
        Info::PROFILES => value.set(limits.profiles),
        Info::DEFAULT_FLOAT_ROUNDING_MODES | Info::BASE_PROFILE_DEFAULT_FLOAT_ROUNDING_MODES => {
            value.set(limits.float_rounding_modes);
        }
        Info::FAST_F16_OPERATION => value.set(isa.has_fast_f16()),
        Info::WORKGROUP_MAX_DIM => value.set(limits.workgroup_max_dim),
        Info::WORKGROUP_MAX_SIZE => value.set(limits.workgroup_max_size),
        Info::GRID_MAX_DIM => {
            let [x, y, z] = limits.grid_max_dim;
            value.set(hsa_dim3_t { x, y, z });
        }
        Info::GRID_MAX_SIZE => value.set(limits.grid_max_size),
        Info::FBARRIER_MAX_SIZE => value.set(limits.fbarrier_max_size),
        _ => return Err(Error::InvalidArgument("not an attribute of an instruction set")),
    }
    Ok(())
}

entry! {
    fn hsa_isa_from_name(name: *const c_char, isa: *mut hsa_isa_t) {
        current()?;
        let (name, place) = (text(name)?, Place::new(isa)?);
        let isa: Isa = name.parse().map_err(|_| Error::InvalidIsaName)?;
        place.set(hsa_isa_t { handle: isa_handle(isa) });
        Ok(())
    }

    fn hsa_agent_iterate_isas(agent: hsa_agent_t, callback_: IsaCallback, data: *mut c_void) {
        let runtime = current()?;
        let agent = runtime.agent(agent.handle)?;
        let function = callback(callback_)?;
        for &isa in &agent.isas {
            // SAFETY: the program gave the function for exactly this call.
            go_on(unsafe { function(hsa_isa_t { handle: isa_handle(isa) }, data) })?;
        }
        Ok(())
    }

    fn hsa_isa_get_info_alt(isa_: hsa_isa_t, attribute: Info, value: *mut c_void) {
        current()?;
        let isa = isa(isa_.handle)?;
        info(isa, attribute, Value::new(value)?)
    }

    fn hsa_isa_get_info(isa_: hsa_isa_t, attribute: Info, index: u32, value: *mut c_void) {
        current()?;
        let isa = isa(isa_.handle)?;
        let value = Value::new(value)?;
        if index >= ISA_LIMITS.call_convention_count {
            return Err(Error::InvalidIndex);
        }
        info(isa, attribute, value)
    }

    fn hsa_isa_get_exception_policies(isa_: hsa_isa_t, profile: hsa_profile_t, mask: *mut u16) {
        current()?;
        isa(isa_.handle)?;
        known_profile(profile)?;
        // No AMD GPU reports exceptions by itself.
        Place::new(mask)?.set(0);
        Ok(())
    }

    fn hsa_isa_get_round_method(
        isa_: hsa_isa_t,
        fp_type: hsa_fp_type_t,
        flush_mode: hsa_flush_mode_t,
        round_method: *mut hsa_round_method_t,
    ) {
        current()?;
        isa(isa_.handle)?;
        let types = [hsa_fp_type_t::TYPE_16, hsa_fp_type_t::TYPE_32, hsa_fp_type_t::TYPE_64];
        let modes = [hsa_flush_mode_t::FTZ, hsa_flush_mode_t::NON_FTZ];
        if !types.contains(&fp_type) || !modes.contains(&flush_mode) {
            return Err(Error::InvalidArgument("not a floating point type or flush mode"));
        }
        // A fused multiply-add rounds once.
        Place::new(round_method)?.set(hsa_round_method_t::SINGLE);
        Ok(())
    }

    fn hsa_isa_iterate_wavefronts(isa_: hsa_isa_t, callback_: WavefrontCallback, data: *mut c_void) {
        current()?;
        let isa = isa(isa_.handle)?;
        let function = callback(callback_)?;
        // SAFETY: the program gave the function for exactly this call.
        go_on(unsafe { function(hsa_wavefront_t { handle: wavefront_handle(isa) }, data) })
    }

    fn hsa_wavefront_get_info(wavefront_: hsa_wavefront_t, attribute: hsa_wavefront_info_t, value: *mut c_void) {
        current()?;
        let isa = wavefront(wavefront_.handle)?;
        let value = Value::new(value)?;
        match attribute {
            hsa_wavefront_info_t::SIZE => value.set(isa.wavefront_size()),
            _ => return Err(Error::InvalidArgument("not an attribute of a wavefront")),
        }
        Ok(())
    }

    fn hsa_isa_compatible(code_object_isa: hsa_isa_t, agent_isa: hsa_isa_t, result: *mut bool) {
        current()?;
        let (code, agent) = (isa(code_object_isa.handle)?, isa(agent_isa.handle)?);
        let place = Place::new(result)?;
        // Only a code object says which version of a generic target it is for; a name stands for the first.
        let generic_version = u8::from(code.processor().is_generic());
        let target = ObjectTarget { isa: code, generic_version };
        place.set(compatible(target, agent).is_ok());
        Ok(())
    }
}
