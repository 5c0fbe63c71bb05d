//! Making and destroying signals (HSA Runtime PRM 1.2, section 2.4).

use crate::entry::{entry, list, Place};
use hansa_core::signal::block::flag;
use hansa_core::signal::group::has_repeats;
use hansa_core::{current, initialized, signal, Error};
use hansa_plugin_api::hsa::{hsa_agent_t, hsa_signal_t, hsa_signal_value_t};

entry! {
    /// Any agent may wait on any signal here, so the consumers are checked and not needed.
    fn hsa_signal_create(
        initial_value: hsa_signal_value_t,
        num_consumers: u32,
        consumers: *const hsa_agent_t,
        signal: *mut hsa_signal_t,
    ) {
        initialized()?;
        let place = Place::new(signal)?;
        let consumers = list(consumers, num_consumers)?;
        if has_repeats(consumers) {
            return Err(Error::InvalidArgument("a consumer is there once"));
        }
        if !consumers.is_empty() {
            let runtime = current()?;
            for consumer in consumers {
                runtime.agent(consumer.handle)?;
            }
        }
        place.set(hsa_signal_t { handle: signal::create(initial_value, flag::SLEEPS)? });
        Ok(())
    }

    fn hsa_signal_destroy(signal_: hsa_signal_t) {
        initialized()?;
        if signal_.handle == 0 {
            return Err(Error::InvalidArgument("0 is no signal"));
        }
        signal::destroy(signal_.handle)
    }
}
