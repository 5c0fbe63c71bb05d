//! Shared virtual memory: attributes of ranges, and moving them.

use crate::args::{address, element, widen, Call};
use crate::entry::{argument, ensure, entries, Outcome};
use hansa_plugin_api::hsa::{
    hsa_agent_t, hsa_amd_svm_attribute_pair_t, hsa_amd_svm_attribute_t as Attribute, hsa_amd_svm_model_t,
    hsa_signal_t, hsa_status_t,
};
use hansa_plugin_api::{DiscardRequest, RSlice, SvmPair};
use std::ffi::c_void;

entries! {
    /// Sets attributes of a range.
    fn hsa_amd_svm_attributes_set(
        call; ptr: *mut c_void, size: usize, attribute_list: *mut hsa_amd_svm_attribute_pair_t, attribute_count: usize,
    ) {
        let pairs = pairs(call, (ptr, size), attribute_list, attribute_count)?;
        argument(pairs.iter().all(can_be_set))?;
        call.sharing()?.svm_set(address(ptr), size as u64, pairs.as_slice().into())?;
        Ok(())
    }

    /// Answers attributes of a range, in the list that asks for them.
    fn hsa_amd_svm_attributes_get(
        call; ptr: *mut c_void, size: usize, attribute_list: *mut hsa_amd_svm_attribute_pair_t, attribute_count: usize,
    ) {
        let pairs = pairs(call, (ptr, size), attribute_list, attribute_count)?;
        argument(pairs.iter().all(can_be_asked))?;
        if pairs.is_empty() {
            return Ok(());
        }
        let answers = call.sharing()?.svm_get(address(ptr), size as u64, pairs.as_slice().into())?;
        ensure(answers.len() == pairs.len(), hsa_status_t::ERROR)?;
        for (index, answer) in answers.iter().enumerate() {
            let pair = hsa_amd_svm_attribute_pair_t { attribute: answer.attribute, value: answer.value };
            call.out(element(attribute_list, index))?.set(pair);
        }
        Ok(())
    }

    /// Moves a range to an agent.
    fn hsa_amd_svm_prefetch_async(
        call; ptr: *mut c_void, size: usize, agent: hsa_agent_t, num_dep_signals: u32,
        dep_signals: *const hsa_signal_t, completion_signal: hsa_signal_t,
    ) {
        range(ptr, size)?;
        let dependencies = call.dependencies(num_dep_signals, dep_signals)?;
        call.sharing()?.svm_prefetch(
            address(ptr), size as u64, agent.handle, dependencies, completion_signal.handle,
        )?;
        Ok(())
    }

    /// Drops the contents of ranges.
    fn hsa_amd_svm_discard_batch_async(
        call; ptrs: *mut *mut c_void, sizes: *mut usize, count: u32, num_dep_signals: u32,
        dep_signals: *const hsa_signal_t, completion_signal: hsa_signal_t,
    ) {
        let agents = RSlice::EMPTY;
        discard(call, (ptrs, sizes, count), agents, (num_dep_signals, dep_signals), completion_signal)
    }

    /// Drops the contents of ranges and moves them to agents.
    fn hsa_amd_svm_discard_and_prefetch_batch_async(
        call; ptrs: *mut *mut c_void, sizes: *mut usize, count: u32, dst_agents: *const hsa_agent_t,
        num_dst_agents: u32, num_dep_signals: u32, dep_signals: *const hsa_signal_t, completion_signal: hsa_signal_t,
    ) {
        argument(num_dst_agents != 0)?;
        let agents = call.handles(dst_agents, widen(num_dst_agents))?;
        discard(call, (ptrs, sizes, count), agents, (num_dep_signals, dep_signals), completion_signal)
    }
}

fn range(ptr: *const c_void, size: usize) -> Outcome {
    argument(!ptr.is_null() && size != 0)
}

fn pairs(
    call: &Call,
    (ptr, size): (*const c_void, usize),
    list: *mut hsa_amd_svm_attribute_pair_t,
    count: usize,
) -> Outcome<Vec<SvmPair>> {
    range(ptr, size)?;
    let pair = |pair: &hsa_amd_svm_attribute_pair_t| SvmPair {
        attribute: pair.attribute,
        value: pair.value,
    };
    Ok(call.list(list.cast_const(), count)?.iter().map(pair).collect())
}

fn attribute(pair: &SvmPair) -> Option<Attribute> {
    let attribute = Attribute(u32::try_from(pair.attribute).ok()?);
    attribute.c_name().map(|_| attribute)
}

/// Whether the attribute is one that can be set, to this value.
fn can_be_set(pair: &SvmPair) -> bool {
    match attribute(pair) {
        None | Some(Attribute::PREFETCH_LOCATION | Attribute::ACCESS_QUERY) => false,
        Some(Attribute::GLOBAL_FLAG) => pair.value <= u64::from(hsa_amd_svm_model_t::COARSE_GRAINED.0),
        Some(_) => true,
    }
}

/// Whether the attribute is one that can be asked for.
fn can_be_asked(pair: &SvmPair) -> bool {
    !matches!(
        attribute(pair),
        None | Some(
            Attribute::AGENT_ACCESSIBLE | Attribute::AGENT_ACCESSIBLE_IN_PLACE | Attribute::AGENT_NO_ACCESS
        )
    )
}

fn discard(
    call: &Call,
    (ptrs, sizes, count): (*mut *mut c_void, *mut usize, u32),
    agents: RSlice<'_, u64>,
    (num_dep_signals, dep_signals): (u32, *const hsa_signal_t),
    completion: hsa_signal_t,
) -> Outcome {
    argument(count != 0)?;
    let request = DiscardRequest {
        addresses: call.list(ptrs.cast_const().cast::<u64>(), widen(count))?.into(),
        bytes: call.list(sizes.cast_const().cast::<u64>(), widen(count))?.into(),
        agents,
        dependencies: call.dependencies(num_dep_signals, dep_signals)?,
        completion: completion.handle,
    };
    argument(!request.addresses.contains(&0))?;
    call.sharing()?.svm_discard(&request)?;
    Ok(())
}
