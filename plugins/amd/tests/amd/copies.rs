//! Copies of ranges and boxes.

use crate::support::{at, program, Program, COMPLETION, CPU_AGENT, GPU_AGENT, NO_SIGNAL};
use hansa_plugin_api::hsa::{
    hsa_agent_t, hsa_amd_copy_direction_t, hsa_amd_sdma_engine_id_t, hsa_dim3_t, hsa_pitched_ptr_t,
    hsa_signal_t, hsa_status_t,
};
use std::ptr::{null, null_mut};

#[test]
fn copies_check_pointers_and_signals() {
    let program = program();
    let (to, from) = (at(0x4000), at(0x5000).cast_const());
    let deps = [COMPLETION, hsa_signal_t { handle: 0x32 }];
    let bad = [COMPLETION, NO_SIGNAL];
    let copy = COMPLETION;
    statuses! { program.amd;
        "NULL dst": hsa_amd_memory_async_copy_fn(null_mut(), GPU_AGENT, from, CPU_AGENT, 64, 0, null(), copy)
            => ERROR_INVALID_ARGUMENT,
        "NULL dst, size 0": hsa_amd_memory_async_copy_fn(null_mut(), GPU_AGENT, from, CPU_AGENT, 0, 0, null(), copy)
            => ERROR_INVALID_ARGUMENT,
        "NULL src": hsa_amd_memory_async_copy_fn(to, GPU_AGENT, null(), CPU_AGENT, 64, 0, null(), copy)
            => ERROR_INVALID_ARGUMENT,
        "NULL deps": hsa_amd_memory_async_copy_fn(to, GPU_AGENT, from, CPU_AGENT, 64, 1, null(), copy)
            => ERROR_INVALID_ARGUMENT,
        "dep 0": hsa_amd_memory_async_copy_fn(to, GPU_AGENT, from, CPU_AGENT, 64, 2, bad.as_ptr(), copy)
            => ERROR_INVALID_ARGUMENT,
        "completion 0": hsa_amd_memory_async_copy_fn(to, GPU_AGENT, from, CPU_AGENT, 64, 0, null(), NO_SIGNAL)
            => ERROR_INVALID_ARGUMENT,
    }
    assert_eq!(program.calls(), [""; 0]);
    let nobody = hsa_agent_t { handle: 0 };
    statuses! { program.amd;
        "fine": hsa_amd_memory_async_copy_fn(to, GPU_AGENT, from, CPU_AGENT, 64, 2, deps.as_ptr(), copy) => SUCCESS,
        "no deps, list ignored": hsa_amd_memory_async_copy_fn(to, GPU_AGENT, from, CPU_AGENT, 0, 0, bad.as_ptr(), copy)
            => SUCCESS,
        "agents to be found": hsa_amd_memory_async_copy_fn(to, nobody, from, nobody, 64, 0, null(), copy) => SUCCESS,
    }
    assert_eq!(
        program.calls(),
        [
            "copy(0x12 <- 0x11, 64, after [31, 32], then 0x31, engine 0 false)",
            "copy(0x12 <- 0x11, 0, after [], then 0x31, engine 0 false)",
            "copy(0x0 <- 0x0, 64, after [], then 0x31, engine 0 false)"
        ]
    );
    program.refuse("copy", hsa_status_t::ERROR_INVALID_SIGNAL);
    statuses! { program.amd;
        "bad signal": hsa_amd_memory_async_copy_fn(to, GPU_AGENT, from, CPU_AGENT, 64, 0, null(), copy)
            => ERROR_INVALID_SIGNAL,
    }
}

#[test]
fn a_copy_engine_is_one_of_sixteen_bits() {
    let program = program();
    let (to, from) = (at(0x4000), at(0x5000).cast_const());
    let engines = [
        (0, false),
        (1, true),
        (3, false),
        (0x8000, true),
        (0x1_0000, false),
    ];
    for (engine, fine) in engines {
        // SAFETY: the scripted runtime does not follow the pointers.
        let status = unsafe {
            (program.amd.hsa_amd_memory_async_copy_on_engine_fn)(
                to,
                GPU_AGENT,
                from,
                GPU_AGENT,
                64,
                0,
                null(),
                COMPLETION,
                hsa_amd_sdma_engine_id_t(engine),
                true,
            )
        };
        assert_eq!(status.is_success(), fine, "engine {engine:#x}");
    }
    let mut mask = 0;
    assert_eq!(
        program.calls()[1],
        "copy(0x12 <- 0x12, 64, after [], then 0x31, engine 32768 true)"
    );
    statuses! { program.amd;
        "NULL": hsa_amd_memory_copy_engine_status_fn(GPU_AGENT, CPU_AGENT, null_mut()) => ERROR_INVALID_ARGUMENT,
        "free": hsa_amd_memory_copy_engine_status_fn(GPU_AGENT, CPU_AGENT, &raw mut mask) => SUCCESS,
    }
    assert_eq!(mask, 0b110);
    statuses! { program.amd;
        "NULL": hsa_amd_memory_get_preferred_copy_engine_fn(GPU_AGENT, CPU_AGENT, null_mut())
            => ERROR_INVALID_ARGUMENT,
        "preferred": hsa_amd_memory_get_preferred_copy_engine_fn(GPU_AGENT, CPU_AGENT, &raw mut mask) => SUCCESS,
    }
    assert_eq!(mask, 0b100);
    program.refuse("free_engines", hsa_status_t::ERROR_OUT_OF_RESOURCES);
    statuses! { program.amd;
        "none": hsa_amd_memory_copy_engine_status_fn(GPU_AGENT, CPU_AGENT, &raw mut mask) => ERROR_OUT_OF_RESOURCES,
    }
}

type Change = (&'static str, fn(&mut Rect));

struct Rect {
    to: hsa_pitched_ptr_t,
    from: hsa_pitched_ptr_t,
    range: hsa_dim3_t,
    direction: u32,
}

impl Rect {
    fn fine() -> Self {
        let side = |base| hsa_pitched_ptr_t {
            base: at(base),
            pitch: 256,
            slice: 4096,
        };
        Self {
            to: side(0x4000),
            from: side(0x5000),
            range: hsa_dim3_t { x: 64, y: 4, z: 2 },
            direction: 1,
        }
    }

    fn copy(&self, program: &Program) -> hsa_status_t {
        let offset = hsa_dim3_t { x: 8, y: 1, z: 0 };
        // SAFETY: live structures; the scripted runtime does not follow the bases.
        unsafe {
            (program.amd.hsa_amd_memory_async_copy_rect_fn)(
                &raw const self.to,
                &raw const offset,
                &raw const self.from,
                &raw const offset,
                &raw const self.range,
                GPU_AGENT,
                hsa_amd_copy_direction_t(self.direction),
                0,
                null(),
                COMPLETION,
            )
        }
    }
}

#[test]
fn a_box_is_copied_in_words_and_one_of_three_directions() {
    let program = program();
    assert_eq!(Rect::fine().copy(&program), hsa_status_t::SUCCESS);
    assert_eq!(
        program.calls(),
        ["copy_rect(256+4096+[8, 1, 0] <- 256+4096+[8, 1, 0], [64, 4, 2], 1, 0x12, after [], then 0x31)"]
    );
    let changes: [Change; 10] = [
        ("host to host", |rect| rect.direction = 0),
        ("direction 77", |rect| rect.direction = 77),
        ("direction -1", |rect| rect.direction = u32::MAX),
        ("NULL destination", |rect| rect.to.base = null_mut()),
        ("NULL source", |rect| rect.from.base = null_mut()),
        ("destination + 1", |rect| rect.to.base = at(0x4001)),
        ("source + 2", |rect| rect.from.base = at(0x5002)),
        ("pitch 257", |rect| rect.to.pitch = 257),
        ("slice 4097", |rect| rect.from.slice = 4097),
        ("pitch smaller than a row", |rect| rect.range.x = 260),
    ];
    for (case, change) in changes {
        let mut rect = Rect::fine();
        change(&mut rect);
        assert_eq!(
            rect.copy(&program),
            hsa_status_t::ERROR_INVALID_ARGUMENT,
            "{case}"
        );
    }
    assert_eq!(program.calls(), [""; 0]);
    let single_row = Rect {
        range: hsa_dim3_t { x: 1024, y: 1, z: 1 },
        ..Rect::fine()
    };
    assert_eq!(
        single_row.copy(&program),
        hsa_status_t::SUCCESS,
        "one row needs no pitch"
    );
}

#[test]
fn a_box_needs_all_its_structures() {
    let program = program();
    let Rect { to, from, range, .. } = Rect::fine();
    let offset = hsa_dim3_t { x: 0, y: 0, z: 0 };
    let (to, from, off, range) = (
        &raw const to,
        &raw const from,
        &raw const offset,
        &raw const range,
    );
    let dir = hsa_amd_copy_direction_t::HOST_TO_DEVICE;
    let (gpu, done) = (GPU_AGENT, COMPLETION);
    statuses! { program.amd;
        "NULL dst": hsa_amd_memory_async_copy_rect_fn(null(), off, from, off, range, gpu, dir, 0, null(), done)
            => ERROR_INVALID_ARGUMENT,
        "NULL dst_offset": hsa_amd_memory_async_copy_rect_fn(to, null(), from, off, range, gpu, dir, 0, null(), done)
            => ERROR_INVALID_ARGUMENT,
        "NULL src": hsa_amd_memory_async_copy_rect_fn(to, off, null(), off, range, gpu, dir, 0, null(), done)
            => ERROR_INVALID_ARGUMENT,
        "NULL src_offset": hsa_amd_memory_async_copy_rect_fn(to, off, from, null(), range, gpu, dir, 0, null(), done)
            => ERROR_INVALID_ARGUMENT,
        "NULL range": hsa_amd_memory_async_copy_rect_fn(to, off, from, off, null(), gpu, dir, 0, null(), done)
            => ERROR_INVALID_ARGUMENT,
        "NULL deps": hsa_amd_memory_async_copy_rect_fn(to, off, from, off, range, gpu, dir, 1, null(), done)
            => ERROR_INVALID_ARGUMENT,
        "completion 0": hsa_amd_memory_async_copy_rect_fn(to, off, from, off, range, gpu, dir, 0, null(), NO_SIGNAL)
            => ERROR_INVALID_ARGUMENT,
    }
    program.refuse("copy_rect", hsa_status_t::ERROR_INVALID_AGENT);
    statuses! { program.amd;
        "CPU": hsa_amd_memory_async_copy_rect_fn(to, off, from, off, range, CPU_AGENT, dir, 0, null(), done)
            => ERROR_INVALID_AGENT,
    }
}
