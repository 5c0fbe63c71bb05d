//! Signal groups (HSA Runtime PRM 1.2, section 2.4).

use super::signal_value::known_condition;
use crate::entry::{entry, list, not_null, Place};
use hansa_core::signal::Group;
use hansa_core::{current, Error, Result};
use hansa_plugin_api::hsa::{
    hsa_agent_t, hsa_signal_condition_t, hsa_signal_group_t, hsa_signal_t, hsa_signal_value_t,
    hsa_wait_state_t,
};
use std::sync::Arc;

entry! {
    fn hsa_signal_group_create(
        num_signals: u32,
        signals: *const hsa_signal_t,
        num_consumers: u32,
        consumers: *const hsa_agent_t,
        signal_group: *mut hsa_signal_group_t,
    ) {
        let runtime = current()?;
        let place = Place::new(signal_group)?;
        let signals: Vec<u64> = list(signals, num_signals)?.iter().map(|s| s.handle).collect();
        let consumers = list(consumers, num_consumers)?;
        if signals.contains(&0) {
            return Err(Error::InvalidArgument("0 is no signal"));
        }
        let agents = consumers.iter().map(|a| runtime.agent_index(a.handle));
        let group = Group::new(&signals, agents.collect::<Result<_>>()?)?;
        let handle = runtime.groups.insert(Arc::new(group));
        place.set(hsa_signal_group_t { handle: handle.ok_or(Error::OutOfResources("handles"))? });
        Ok(())
    }

    fn hsa_signal_group_destroy(signal_group: hsa_signal_group_t) {
        let runtime = current()?;
        runtime.groups.remove(signal_group.handle).map(drop).ok_or(Error::InvalidSignalGroup)
    }

    fn hsa_signal_group_wait_any_scacquire(
        signal_group: hsa_signal_group_t,
        conditions: *const hsa_signal_condition_t,
        compare_values: *const hsa_signal_value_t,
        wait_state_hint: hsa_wait_state_t,
        signal: *mut hsa_signal_t,
        value: *mut hsa_signal_value_t,
    ) {
        let _ = wait_state_hint;
        wait_any(signal_group, conditions, compare_values, signal, value)
    }

    fn hsa_signal_group_wait_any_relaxed(
        signal_group: hsa_signal_group_t,
        conditions: *const hsa_signal_condition_t,
        compare_values: *const hsa_signal_value_t,
        wait_state_hint: hsa_wait_state_t,
        signal: *mut hsa_signal_t,
        value: *mut hsa_signal_value_t,
    ) {
        let _ = wait_state_hint;
        wait_any(signal_group, conditions, compare_values, signal, value)
    }
}

fn wait_any(
    group: hsa_signal_group_t,
    conditions: *const hsa_signal_condition_t,
    compare_values: *const hsa_signal_value_t,
    signal: *mut hsa_signal_t,
    value: *mut hsa_signal_value_t,
) -> Result<()> {
    let runtime = current()?;
    let group = runtime
        .groups
        .get(group.handle)
        .ok_or(Error::InvalidSignalGroup)?;
    not_null(conditions)?;
    not_null(compare_values)?;
    let (signal, value) = (Place::new(signal)?, Place::new(value)?);
    let count = u32::try_from(group.signals().len()).unwrap_or(u32::MAX);
    let wanted = list(conditions, count)?.iter().zip(list(compare_values, count)?);
    let wanted = wanted.map(|(&condition, &compare)| {
        let condition = known_condition(condition).ok_or(Error::InvalidArgument("not a condition"))?;
        Ok((condition, compare))
    });
    let wanted: Vec<_> = wanted.collect::<Result<_>>()?;
    // The wait may be long: it must not keep a runtime that is shut down meanwhile.
    drop(runtime);
    let (handle, seen) = group.wait_any(&wanted)?;
    signal.set(hsa_signal_t { handle });
    value.set(seen);
    Ok(())
}
