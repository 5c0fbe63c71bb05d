//! Sampling of program counters (`hsa_ven_amd_pc_sampling.h` 1.0).
//!
//! No driver of the runtime's interface samples: the functions check what they are given, and then say so. As no session
//! is ever made, no handle names one.

use crate::args::Call;
use crate::entry::{argument, ensure, entries, Outcome};
use hansa_plugin_api::hsa::{
    hsa_agent_t, hsa_status_t, hsa_ven_amd_pcs_data_ready_callback_t,
    hsa_ven_amd_pcs_iterate_configuration_callback_t, hsa_ven_amd_pcs_method_kind_t, hsa_ven_amd_pcs_t,
    hsa_ven_amd_pcs_units_t, PcSamplingExtTable, PC_SAMPLING_EXT_TABLE_VERSION,
};
use hansa_plugin_api::AgentKind;
use std::ffi::c_void;

/// Builds the table from its rows.
macro_rules! pc_sampling_table {
    ($(($index:literal, $kind:ident, $name:ident, $field:ident, $args:tt, $ret:ty, $doc:literal))*) => {
        /// The functions, as the runtime's table has them.
        pub(crate) static PC_SAMPLING: PcSamplingExtTable =
            PcSamplingExtTable { version: PC_SAMPLING_EXT_TABLE_VERSION, $($field: $name,)* };
    };
}
hansa_plugin_api::for_each_pc_sampling_api!(pc_sampling_table);

entries! {
    /// Calls back for every way in which an agent can sample.
    fn hsa_ven_amd_pcs_iterate_configuration(
        call; agent: hsa_agent_t, callback: hsa_ven_amd_pcs_iterate_configuration_callback_t, _data: *mut c_void,
    ) {
        gpu(call, agent)?;
        argument(callback.is_some())?;
        no_driver_samples()
    }

    /// Makes a session.
    fn hsa_ven_amd_pcs_create(
        call; agent: hsa_agent_t, method: hsa_ven_amd_pcs_method_kind_t, units: hsa_ven_amd_pcs_units_t,
        interval: usize, _latency: usize, buffer_size: usize, callback: hsa_ven_amd_pcs_data_ready_callback_t,
        _data: *mut c_void, session: *mut hsa_ven_amd_pcs_t,
    ) {
        create(call, agent, (method, units), (interval, buffer_size), (callback.is_some(), session))
    }

    /// Makes a session of one that the driver knows by a number.
    fn hsa_ven_amd_pcs_create_from_id(
        call; _pcs_id: u32, agent: hsa_agent_t, method: hsa_ven_amd_pcs_method_kind_t,
        units: hsa_ven_amd_pcs_units_t, interval: usize, _latency: usize, buffer_size: usize,
        callback: hsa_ven_amd_pcs_data_ready_callback_t, _data: *mut c_void, session: *mut hsa_ven_amd_pcs_t,
    ) {
        create(call, agent, (method, units), (interval, buffer_size), (callback.is_some(), session))
    }

    /// Ends a session.
    fn hsa_ven_amd_pcs_destroy(call; _session: hsa_ven_amd_pcs_t) {
        no_session(call)
    }

    /// Starts to sample.
    fn hsa_ven_amd_pcs_start(call; _session: hsa_ven_amd_pcs_t) {
        no_session(call)
    }

    /// Stops to sample.
    fn hsa_ven_amd_pcs_stop(call; _session: hsa_ven_amd_pcs_t) {
        no_session(call)
    }

    /// Delivers what was sampled.
    fn hsa_ven_amd_pcs_flush(call; _session: hsa_ven_amd_pcs_t) {
        no_session(call)
    }
}

fn gpu(call: &Call, agent: hsa_agent_t) -> Outcome {
    let kind = call.runtime().agent_kind(agent.handle)?;
    ensure(kind == AgentKind::GPU, hsa_status_t::ERROR_INVALID_AGENT)
}

fn create(
    call: &Call,
    agent: hsa_agent_t,
    (method, units): (hsa_ven_amd_pcs_method_kind_t, hsa_ven_amd_pcs_units_t),
    (interval, buffer_bytes): (usize, usize),
    (has_callback, session): (bool, *mut hsa_ven_amd_pcs_t),
) -> Outcome {
    gpu(call, agent)?;
    call.out(session)?;
    argument(has_callback && interval != 0 && buffer_bytes != 0)?;
    argument(method.c_name().is_some() && units.c_name().is_some())?;
    no_driver_samples()
}

fn no_driver_samples() -> Outcome {
    ensure(false, hsa_status_t::ERROR_NOT_SUPPORTED)
}

fn no_session(_: &Call) -> Outcome {
    argument(false)
}
