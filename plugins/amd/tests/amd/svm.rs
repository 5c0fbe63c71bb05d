//! Shared virtual memory.

use crate::support::{at, program, AGENTS, GPU, GPU_AGENT, SIGNAL};
use hansa_plugin_api::hsa::{hsa_amd_svm_attribute_pair_t, hsa_signal_t, hsa_status_t};
use std::ptr::{null, null_mut};

#[test]
fn attributes_that_cannot_be_set_or_asked_for_are_refused() {
    let program = program();
    let memory = at(0x7000);
    // Attribute, value, whether it can be set, whether it can be asked for.
    let attributes = [
        (0, 0, true, true),
        (0, 1, true, true),
        (0, 2, false, true),
        (1, 1, true, true),
        (2, 1, true, true),
        (3, 9, true, true),
        (4, GPU, true, true),
        (5, GPU, false, true),
        (6, 1, true, true),
        (7, 1, true, true),
        (8, 0, false, false),
        (0x1ff, 0, false, false),
        (0x200, GPU, true, false),
        (0x201, GPU, true, false),
        (0x202, GPU, true, false),
        (0x203, GPU, false, true),
        (0x204, GPU, false, false),
        (1 << 32, 0, false, false),
    ];
    for (attribute, value, set, get) in attributes {
        let expected = |allowed| {
            if allowed {
                hsa_status_t::SUCCESS
            } else {
                hsa_status_t::ERROR_INVALID_ARGUMENT
            }
        };
        let mut pair = hsa_amd_svm_attribute_pair_t { attribute, value };
        // SAFETY: one pair.
        let status = unsafe { (program.amd.hsa_amd_svm_attributes_set_fn)(memory, 4096, &raw mut pair, 1) };
        assert_eq!(status, expected(set), "set {attribute:#x} to {value}");
        // SAFETY: one pair.
        let status = unsafe { (program.amd.hsa_amd_svm_attributes_get_fn)(memory, 4096, &raw mut pair, 1) };
        assert_eq!(status, expected(get), "get {attribute:#x}");
        assert_eq!((pair.attribute, pair.value), (attribute, value + u64::from(get)));
    }
}

#[test]
fn ranges_of_shared_memory_are_checked() {
    let program = program();
    let memory = at(0x7000);
    let mut pairs = [1, 3].map(|attribute| hsa_amd_svm_attribute_pair_t { attribute, value: 1 });
    let list = pairs.as_mut_ptr();
    statuses! { program.amd;
        "NULL ptr": hsa_amd_svm_attributes_set_fn(null_mut(), 4096, list, 2) => ERROR_INVALID_ARGUMENT,
        "size 0": hsa_amd_svm_attributes_set_fn(memory, 0, list, 2) => ERROR_INVALID_ARGUMENT,
        "NULL list": hsa_amd_svm_attributes_set_fn(memory, 4096, null_mut(), 1) => ERROR_INVALID_ARGUMENT,
        "two": hsa_amd_svm_attributes_set_fn(memory, 4096, list, 2) => SUCCESS,
        "NULL list": hsa_amd_svm_attributes_get_fn(memory, 4096, null_mut(), 1) => ERROR_INVALID_ARGUMENT,
        "none": hsa_amd_svm_attributes_get_fn(memory, 4096, null_mut(), 0) => SUCCESS,
        "huge": hsa_amd_svm_attributes_get_fn(memory, 4096, list, usize::MAX) => ERROR_INVALID_ARGUMENT,
    }
    assert_eq!(program.calls(), ["svm_set(0x7000, 4096, [(1, 1), (3, 1)])"]);
    program.refuse("svm_set", hsa_status_t::ERROR);
    statuses! { program.amd;
        "no shared memory": hsa_amd_svm_attributes_set_fn(memory, 4096, list, 2) => ERROR,
    }
}

#[test]
fn prefetches_and_discards_pass_ranges_agents_and_signals() {
    let program = program();
    let memory = at(0x7000);
    let signal = hsa_signal_t { handle: SIGNAL };
    let none = hsa_signal_t { handle: 0 };
    let (deps, bad) = ([signal; 2], [signal, none]);
    statuses! { program.amd;
        "NULL ptr": hsa_amd_svm_prefetch_async_fn(null_mut(), 64, GPU_AGENT, 0, null(), none)
            => ERROR_INVALID_ARGUMENT,
        "size 0": hsa_amd_svm_prefetch_async_fn(memory, 0, GPU_AGENT, 0, null(), none) => ERROR_INVALID_ARGUMENT,
        "NULL deps": hsa_amd_svm_prefetch_async_fn(memory, 64, GPU_AGENT, 1, null(), none) => ERROR_INVALID_ARGUMENT,
        "dep 0": hsa_amd_svm_prefetch_async_fn(memory, 64, GPU_AGENT, 2, bad.as_ptr(), none)
            => ERROR_INVALID_ARGUMENT,
        "no deps, list": hsa_amd_svm_prefetch_async_fn(memory, 64, GPU_AGENT, 0, bad.as_ptr(), none) => SUCCESS,
        "deps": hsa_amd_svm_prefetch_async_fn(memory, 64, GPU_AGENT, 2, deps.as_ptr(), signal) => SUCCESS,
    }
    let (mut ranges, mut sizes) = ([memory, at(0x9000)], [4096_usize, 8192]);
    let mut holes = [memory, null_mut()];
    let (ptrs, bytes) = (ranges.as_mut_ptr(), sizes.as_mut_ptr());
    let agents = AGENTS.as_ptr();
    statuses! { program.amd;
        "NULL ptrs": hsa_amd_svm_discard_batch_async_fn(null_mut(), bytes, 2, 0, null(), none)
            => ERROR_INVALID_ARGUMENT,
        "NULL sizes": hsa_amd_svm_discard_batch_async_fn(ptrs, null_mut(), 2, 0, null(), none)
            => ERROR_INVALID_ARGUMENT,
        "count 0": hsa_amd_svm_discard_batch_async_fn(ptrs, bytes, 0, 0, null(), none) => ERROR_INVALID_ARGUMENT,
        "NULL deps": hsa_amd_svm_discard_batch_async_fn(ptrs, bytes, 2, 1, null(), none) => ERROR_INVALID_ARGUMENT,
        "NULL range": hsa_amd_svm_discard_batch_async_fn(holes.as_mut_ptr(), bytes, 2, 0, null(), none)
            => ERROR_INVALID_ARGUMENT,
        "fine": hsa_amd_svm_discard_batch_async_fn(ptrs, bytes, 2, 0, null(), signal) => SUCCESS,
        "no agents": hsa_amd_svm_discard_and_prefetch_batch_async_fn(ptrs, bytes, 2, agents, 0, 0, null(), none)
            => ERROR_INVALID_ARGUMENT,
        "NULL agents": hsa_amd_svm_discard_and_prefetch_batch_async_fn(ptrs, bytes, 2, null(), 1, 0, null(), none)
            => ERROR_INVALID_ARGUMENT,
        "fine": hsa_amd_svm_discard_and_prefetch_batch_async_fn(
            ptrs, bytes, 2, agents, 2, 1, deps.as_ptr(), none
        ) => SUCCESS,
    }
    assert_eq!(
        program.calls(),
        [
            "svm_prefetch(0x7000, 64, 0x12, after [], then 0x0)",
            "svm_prefetch(0x7000, 64, 0x12, after [31, 31], then 0x31)",
            "svm_discard([7000, 9000], [4096, 8192], [], after [], then 0x31)",
            "svm_discard([7000, 9000], [4096, 8192], [11, 12], after [31], then 0x0)"
        ]
    );
    program.refuse("svm_discard", hsa_status_t::ERROR_XNACK_DISABLED);
    statuses! { program.amd;
        "no XNACK": hsa_amd_svm_discard_batch_async_fn(ptrs, bytes, 2, 0, null(), none) => ERROR_XNACK_DISABLED,
    }
}
