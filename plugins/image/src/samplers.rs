//! Samplers.

use crate::descriptor::Sampler;
use crate::entry::{ensure, entries, not_zero, Failure, Outcome};
use crate::module::Module;
use hansa_plugin_api::hsa::{
    hsa_agent_t, hsa_ext_sampler_descriptor_t, hsa_ext_sampler_descriptor_v2_t, hsa_ext_sampler_t,
    hsa_status_t,
};

fn create(module: &Module, agent: u64, sampler: Option<Sampler>) -> Outcome<hsa_ext_sampler_t> {
    let there = module.hardware(agent)?.is_some();
    ensure(there, hsa_status_t::ERROR_INVALID_AGENT)?;
    let sampler = sampler.ok_or(Failure::Status(
        hsa_status_t::EXT_ERROR_SAMPLER_DESCRIPTOR_UNSUPPORTED,
    ))?;
    Ok(hsa_ext_sampler_t {
        handle: module.add_sampler(&sampler.words())?,
    })
}

entries! {
    /// Makes a sampler with one address mode for all axes.
    fn hsa_ext_sampler_create(
        call; agent: hsa_agent_t, sampler_descriptor: *const hsa_ext_sampler_descriptor_t,
        sampler: *mut hsa_ext_sampler_t,
    ) {
        not_zero(agent.handle)?;
        let place = call.out(sampler)?;
        let wanted = call.read(sampler_descriptor)?;
        let wanted = Sampler::new(wanted.coordinate_mode, wanted.filter_mode, [wanted.address_mode; 3]);
        place.set(create(call, agent.handle, wanted)?);
        Ok(())
    }

    /// Makes a sampler.
    fn hsa_ext_sampler_create_v2(
        call; agent: hsa_agent_t, sampler_descriptor: *const hsa_ext_sampler_descriptor_v2_t,
        sampler: *mut hsa_ext_sampler_t,
    ) {
        not_zero(agent.handle)?;
        let place = call.out(sampler)?;
        let wanted = call.read(sampler_descriptor)?;
        let wanted = Sampler::new(wanted.coordinate_mode, wanted.filter_mode, wanted.address_modes);
        place.set(create(call, agent.handle, wanted)?);
        Ok(())
    }

    /// Ends a sampler.
    fn hsa_ext_sampler_destroy(call; agent: hsa_agent_t, sampler: hsa_ext_sampler_t) {
        not_zero(agent.handle)?;
        call.agent(agent.handle)?;
        call.remove_sampler(sampler.handle)
    }
}
