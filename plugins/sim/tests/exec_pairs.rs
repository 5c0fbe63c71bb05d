//! Eight aligned bytes are loaded and stored at once, however the lanes lie: the host writes and reads halves that are equal
//! while a kernel does the same.

#![allow(clippy::cast_possible_truncation, reason = "Halves are cut out of a whole")]

mod exec_support;

use exec_support::{assemble, Launch, Memory, Program};
use hansa_sim::exec::{run_group, Arena, Level};
use hansa_sim::isa::Target;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Loads with lanes backwards, scattered, side by side, alike, and one alone; v10 collects what differs between the halves.
/// v6 and v7 have the number of the work-group, and are stored backwards and side by side behind.
const TEXT: &str = "s_load_dwordx4 s[20:23], s[8:9], 0x0\ns_waitcnt lgkmcnt(0)\n\
    v_mov_b32 v10, 0\nv_mov_b32 v6, s15\nv_mov_b32 v7, s15\nv_mov_b32 v3, 0\n\
    v_lshlrev_b32 v1, 3, v0\nv_sub_u32 v2, 0x1f8, v1\nv_mul_u32_u24 v4, 29, v0\nv_and_b32 v4, 63, v4\nv_lshlrev_b32 v4, 3, v4\n";
const LOADS: &str = "global_load_dwordx2 v[8:9], ADDRESS, s[22:23]\ns_waitcnt vmcnt(0)\nv_xor_b32 v8, v8, v9\nv_or_b32 v10, v10, v8\n";
const STORES: &str = "global_store_dwordx2 v2, v[6:7], s[22:23] offset:512\nglobal_store_dwordx2 v1, v[6:7], s[22:23] offset:1024\n";

fn text() -> String {
    let mut text = TEXT.to_owned();
    for _ in 0..16 {
        for address in ["v1", "v2", "v3", "v4"] {
            text += &LOADS.replace("ADDRESS", address);
        }
        text += "s_mov_b64 exec, 16\n";
        text += &LOADS.replace("ADDRESS", "v2");
        text += "s_mov_b64 exec, -1\n";
        text += STORES;
    }
    text + "v_lshlrev_b32 v1, 2, v0\nglobal_store_dword v1, v10, s[20:21]\ns_endpgm\n"
}

#[test]
fn halves_of_eight_bytes_stay_together() {
    let Some(words) = assemble(&text(), Target::Gfx900) else {
        return;
    };
    for level in Level::available() {
        let program = Program::raw(&words, Target::Gfx900, level);
        let (out, data) = (Memory::new(4096), Memory::of(&[0u64; 192]));
        let pair = |index: usize| {
            let address = usize::try_from(data.address()).expect("64 bits") + 8 * index;
            // SAFETY: one of the 192 values of `data`, which kernel and host access atomically.
            unsafe { AtomicU64::from_ptr(std::ptr::with_exposed_provenance_mut(address)) }
        };
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for number in (0..u32::MAX).cycle() {
                    for index in 0..64 {
                        pair(index).store(u64::from(number) << 32 | u64::from(number), Ordering::Relaxed);
                    }
                    let seen = pair(64 + number as usize % 128).load(Ordering::Relaxed);
                    assert_eq!(seen as u32, (seen >> 32) as u32, "stored by {level:?}");
                    if over.load(Ordering::Relaxed) {
                        break;
                    }
                }
            });
            let launch = Launch::new(&program, "raw", 64 * 600, 64)
                .buffer(&out)
                .buffer(&data);
            launch.with_dispatch(|dispatch| {
                let mut arena = Arena::new();
                for group in 0..600 {
                    run_group(dispatch, [group, 0, 0], &mut arena, 0).expect("it ends");
                    let differs: Vec<u32> = out.values(64);
                    if differs != [0; 64] {
                        over.store(true, Ordering::Relaxed);
                    }
                    assert_eq!(differs, [0; 64], "loaded by {level:?}");
                }
            });
            over.store(true, Ordering::Relaxed);
        });
    }
}
