//! Atomics, signals, queues, barriers, and lanes that talk to each other.

mod support;

use support::device::{Launch, Memory};
use support::run::{program, results, run};

#[test]
fn every_atomic_operation_gives_what_was_there() {
    // Operation, type, what is there, sources, what is there afterwards.
    let operations: [(&str, &str, u64, &str, u64); 22] = [
        ("add", "u32", 7, "5", 12),
        ("sub", "s32", 7, "9", 0xffff_fffe),
        ("and", "b32", 0xff00_ff00, "0x0ff00ff0", 0x0f00_0f00),
        ("or", "b32", 0xf0, "0x0f", 0xff),
        ("xor", "b32", 0xff, "0x0f", 0xf0),
        ("exch", "b32", 1, "2", 2),
        ("max", "s32", 0xffff_fff0, "3", 3),
        ("max", "u32", 0xffff_fff0, "3", 0xffff_fff0),
        ("min", "s32", 0xffff_fff0, "3", 0xffff_fff0),
        ("min", "u32", 0xffff_fff0, "3", 3),
        ("wrapinc", "u32", 4, "5", 5),
        ("wrapinc", "u32", 5, "5", 0),
        ("wrapinc", "u32", 9, "5", 0),
        ("wrapdec", "u32", 4, "5", 3),
        ("wrapdec", "u32", 0, "5", 5),
        ("wrapdec", "u32", 9, "5", 5),
        ("cas", "b32", 4, "4, 77", 77),
        ("cas", "b32", 4, "5, 77", 4),
        ("add", "u64", u64::MAX, "2", 1),
        ("max", "s64", u64::MAX, "1", 1),
        ("wrapdec", "u64", 0, "0x100000000", 0x1_0000_0000),
        ("cas", "b64", 0x1_0000_0000, "0x100000000, 5", 5),
    ];
    for (segment, scopes) in [
        ("global_", ["wave", "wg", "agent", "system"]),
        ("", ["wg"; 4]),
        ("group_", ["wg"; 4]),
    ] {
        let mut text = String::new();
        for (index, (operation, ty, _, sources, _)) in operations.iter().enumerate() {
            let order = ["rlx", "scacq", "screl", "scar"][index % 4];
            let scope = scopes[(index / 4) % 4];
            let (kind, size) = if ty.ends_with("64") {
                ('d', "u64")
            } else {
                ('s', "u32")
            };
            let at = 16 * index;
            let cell = if segment == "group_" {
                "[%cell]".to_owned()
            } else {
                format!("[$d0+{at}]")
            };
            if segment == "group_" {
                text += &format!(
                    "ld_global_{size} ${kind}9, [$d0+{at}]; st_group_align(8)_{size} ${kind}9, {cell};\n"
                );
            }
            text += &format!(
                "atomic_{operation}_{segment}{order}_{scope}_{ty} ${kind}9, {cell}, {sources}; \
                 st_global_{size} ${kind}9, [$d0+{}];\n",
                at + 8
            );
            if segment == "group_" {
                text += &format!(
                    "ld_group_align(8)_{size} ${kind}9, {cell}; st_global_{size} ${kind}9, [$d0+{at}];\n"
                );
            }
        }
        let body = format!(
            "prog kernel &k(kernarg_u64 %out) {{ align(8) group_u64 %cell; ld_kernarg_u64 $d0, [%out]; {text} ret; }};"
        );
        let first: Vec<u64> = operations.iter().flat_map(|row| [row.2, 0]).collect();
        let memory = Memory::of(&first);
        let values = run::<u64>(&program(&body), "&k", 1, 1, &[&memory], first.len());
        for (index, (operation, ty, before, sources, after)) in operations.iter().enumerate() {
            let [now, old] = [values[2 * index], values[2 * index + 1]];
            assert_eq!(
                (now, old),
                (*after, *before),
                "{segment}{operation}_{ty} {sources}"
            );
        }
    }
}

#[test]
fn atomics_without_results_count_every_work_item() {
    let body = "prog kernel &k(kernarg_u64 %out) {
        ld_kernarg_u64 $d0, [%out]; workitemabsid_u32 $s0, 0;
        atomicnoret_add_global_rlx_agent_u32 [$d0], 1;
        atomicnoret_max_global_screl_system_u32 [$d0+4], $s0;
        atomicnoret_or_global_rlx_agent_b32 [$d0+8], $s0;
        cmp_eq_b1_u32 $c0, $s0, 17; cbr_b1 $c0, @last; br @end;
        @last: atomicnoret_st_global_screl_system_b32 [$d0+12], $s0; atomic_ld_global_scacq_system_b32 $s1, [$d0+12];
        memfence_scar_agent; memfence_screl_wg; memfence_scacq_wave; memfence_scar_system;
        add_u32 $s1, $s1, 1; st_global_u32 $s1, [$d0+16];
        @end: ret;
    };";
    assert_eq!(results::<u32>(body, 1000, 100, 5), [1000, 999, 1023, 17, 18]);
}

/// A block of a signal.
fn signal(kind: u64, value: u64, mailbox: u64, event: u64) -> [u64; 8] {
    [kind, value, mailbox, event, 0, 0, 0, 0]
}

#[test]
fn signals_change_and_tell_the_host() {
    let body = "prog kernel &k(kernarg_u64 %out, kernarg_sig64 %signal) {
        ld_kernarg_u64 $d0, [%out]; ld_kernarg_sig64 $d1, [%signal];
        signal_ld_scacq_b64_sig64 $d2, $d1; st_global_u64 $d2, [$d0];
        signal_add_scar_s64_sig64 $d2, $d1, 10; st_global_u64 $d2, [$d0+8];
        signal_cas_scar_b64_sig64 $d2, $d1, 15, 40; st_global_u64 $d2, [$d0+16];
        signal_exch_rlx_b64_sig64 $d2, $d1, 6; st_global_u64 $d2, [$d0+24];
        signalnoret_or_screl_b64_sig64 $d1, 8; signalnoret_sub_rlx_s64_sig64 $d1, 4;
        signal_wait_eq_scacq_s64_sig64 $d2, $d1, 10; st_global_u64 $d2, [$d0+32];
        signal_waittimeout_lt_rlx_s64_sig64 $d2, $d1, 0, 3; st_global_u64 $d2, [$d0+40];
        signalnoret_st_screl_b64_sig64 $d1, 99;
        ret;
    };";
    let program = program(body);
    let (output, mailbox) = (Memory::new(64), Memory::new(8));
    let block = Memory::of(&signal(1, 5, mailbox.address(), 0x1234));
    program.share(&mailbox);
    let launch = Launch::new(&program, "&k", 1, 1).buffer(&output).buffer(&block);
    launch.run().expect("the kernel runs");
    assert_eq!(output.values::<u64>(6), [5, 5, 15, 40, 10, 10]);
    assert_eq!(block.values::<u64>(2), [1, 99]);
    assert_eq!(mailbox.values::<u64>(1), [0x1234]);
    let messages = launch.outside.messages.lock().expect("messages");
    // Six changes, each an interrupt with the low bits of the event.
    assert_eq!(*messages, vec![(1, 0x34); 6]);
}

#[test]
fn a_store_to_a_doorbell_rings_it() {
    let body = "prog kernel &k(kernarg_u64 %out, kernarg_sig64 %signal) {
        ld_kernarg_sig64 $d1, [%signal]; signalnoret_st_rlx_b64_sig64 $d1, 12; ret; };";
    let program = program(body);
    let bell = Memory::new(8);
    let block = Memory::of(&signal(u64::MAX, bell.address(), 0, 0));
    let launch = Launch::new(&program, "&k", 1, 1).buffer(&bell).buffer(&block);
    launch.run().expect("the kernel runs");
    assert_eq!(bell.values::<u64>(1), [12]);
    assert_eq!(block.values::<u64>(2)[1], bell.address());
}

#[test]
fn queues_have_their_indices_where_amd_has_them() {
    let body = "prog kernel &k(kernarg_u64 %out, kernarg_u64 %queue) {
        ld_kernarg_u64 $d0, [%out]; ld_kernarg_u64 $d1, [%queue];
        addqueuewriteindex_global_rlx_u64 $d2, [$d1], 3; st_global_u64 $d2, [$d0];
        casqueuewriteindex_scar_u64 $d2, [$d1], 103, 200; st_global_u64 $d2, [$d0+8];
        ldqueuewriteindex_global_scacq_u64 $d2, [$d1]; st_global_u64 $d2, [$d0+16];
        ldqueuereadindex_rlx_u64 $d2, [$d1]; st_global_u64 $d2, [$d0+24];
        stqueuereadindex_global_screl_u64 [$d1], 51; stqueuewriteindex_rlx_u64 [$d1], 300;
        ret;
    };";
    let mut queue = [0u64; 32];
    (queue[7], queue[16]) = (100, 50);
    let (output, queue) = (Memory::new(32), Memory::of(&queue));
    let values = run::<u64>(&program(body), "&k", 1, 1, &[&output, &queue], 4);
    assert_eq!(values, [100, 103, 200, 50]);
    let indices = queue.values::<u64>(17);
    assert_eq!([indices[7], indices[16]], [300, 51]);
}

#[test]
fn lanes_know_which_others_are_active() {
    let body = "prog kernel &k(kernarg_u64 %out) {
        ld_kernarg_u64 $d0, [%out]; workitemid_u32 $s0, 0; cvt_u64_u32 $d1, $s0; shl_u64 $d1, $d1, 5; add_u64 $d0, $d0, $d1;
        rem_u32 $s1, $s0, 3; cmp_eq_b1_u32 $c0, $s1, 0; cbr_b1 $c0, @third; ret;
        @third: and_b32 $s2, $s0, 1; cvt_b1_u32 $c1, $s2;
        activelanecount_u32_b1 $s3, $c1; activelaneid_u32 $s4; activelanemask_v4_b64_b1 ($d2, $d3, $d4, $d5), $c1;
        mul_u32 $s5, $s0, 100; add_u32 $s6, $s0, 3; cmp_eq_b1_u32 $c2, $s0, 9;
        activelanepermute_b32 $s7, $s5, $s6, 7, $c2;
        cvt_u64_u32 $d6, $s5; shl_u64 $d6, $d6, 32; add_u32 $s6, $s0, 1;
        activelanepermute_b64 $d7, $d6, $s0, 0, 0;
        activelanepermute_b32 $s8, $s5, $s6, 5, 0;
        laneid_u32 $s9; shl_u32 $s9, $s9, 16; or_b32 $s8, $s8, $s9;
        st_global_u32 $s3, [$d0]; st_global_u32 $s4, [$d0+4]; st_global_u64 $d2, [$d0+8]; st_global_u32 $s7, [$d0+16];
        st_global_u32 $s8, [$d0+20]; st_global_u64 $d7, [$d0+24];
        ret;
    };";
    let values = results::<u32>(body, 64, 64, 64 * 8);
    let odd: u64 = (0..64)
        .filter(|lane| lane % 3 == 0 && lane % 2 == 1)
        .map(|lane| 1 << lane)
        .sum();
    for lane in 0..64u32 {
        let row = &values[lane as usize * 8..][..8];
        if lane % 3 != 0 {
            assert_eq!(row, [0; 8]);
            continue;
        }
        let permuted = if lane == 9 { 7 } else { (lane + 3) % 64 * 100 };
        // Lane 66 is lane 2, which is not active.
        let permuted = if lane == 63 { 7 } else { permuted };
        let mask = [odd & 0xffff_ffff, odd >> 32].map(|half| u32::try_from(half).expect("a half"));
        assert_eq!(row[..4], [11, lane / 3, mask[0], mask[1]], "{lane}");
        // Lane 64 is lane 0, whose value is 0; the others' neighbours are not active.
        let neighbour = if lane == 63 { 0 } else { 5 };
        assert_eq!(
            row[4..],
            [permuted, neighbour | lane << 16, 0, lane * 100],
            "{lane}"
        );
    }
}

#[test]
fn wavefronts_meet_at_fbarriers() {
    // Waves 0 and 1 exchange through memory; wave 2 arrives without waiting, wave 3 is no member.
    let body = "fbarrier &meet;
        prog kernel &k(kernarg_u64 %out) {
        group_u32 %cell[256];
        workitemid_u32 $s0, 0; shr_u32 $s1, $s0, 6; shl_u32 $s2, $s0, 2;
        ld_kernarg_u64 $d0, [%out]; cvt_u64_u32 $d1, $s2; add_u64 $d0, $d0, $d1;
        cmp_ne_b1_u32 $c0, $s0, 0; cbr_b1 $c0, @made; initfbar &meet;
        @made: barrier;
        mov_b32 $s7, 3;
        cmp_eq_b1_u32 $c0, $s1, 3; cbr_width(64)_b1 $c0, @joined;
        ldf_u32 $s9, &meet; joinfbar_width(64) $s9;
        @joined: barrier;
        cbr_width(64)_b1 $c0, @end;
        mul_u32 $s3, $s0, 5; st_group_align(4)_u32 $s3, [%cell][$s2];
        cmp_eq_b1_u32 $c1, $s1, 2; cbr_width(64)_b1 $c1, @pass;
        waitfbar_width(64) &meet;
        xor_b32 $s4, $s2, 256; ld_group_align(4)_u32 $s7, [%cell][$s4];
        waitfbar_width(64) &meet;
        st_group_align(4)_u32 1, [%cell][$s2];
        br @leave;
        @pass: arrivefbar_width(64) &meet; mov_b32 $s7, 2; leavefbar_width(64) &meet; br @end;
        @leave: leavefbar_width(64) &meet;
        @end: barrier;
        st_global_u32 $s7, [$d0];
        cmp_ne_b1_u32 $c0, $s0, 0; cbr_b1 $c0, @over; releasefbar &meet;
        @over: ret;
    };";
    let values = results::<u32>(body, 256, 256, 256);
    for (item, value) in (0..).zip(&values) {
        let expected = match item / 64 {
            0 | 1 => (item ^ 64) * 5,
            wave => wave,
        };
        assert_eq!(*value, expected, "{item}");
    }
}

#[test]
fn clocks_go_on_and_units_have_numbers() {
    let body = "prog kernel &k(kernarg_u64 %out) {
        ld_kernarg_u64 $d0, [%out];
        clock_u64 $d1; clock_u64 $d2; sub_u64 $d2, $d2, $d1; cmp_lt_u32_u64 $s1, 0, $d2; st_global_u32 $s1, [$d0];
        cuid_u32 $s1; maxcuid_u32 $s2; cmp_le_u32_u32 $s1, $s1, $s2; st_global_u32 $s1, [$d0+4];
        waveid_u32 $s1; maxwaveid_u32 $s2; cmp_le_u32_u32 $s1, $s1, $s2; st_global_u32 $s1, [$d0+8];
        groupbaseptr_u32 $s1; st_global_u32 $s1, [$d0+12];
        packetid_u64 $d3; packetcompletionsig_sig64 $d4; nop; wavebarrier;
        st_global_u64 $d3, [$d0+16]; st_global_sig64 $d4, [$d0+24];
        ret;
    };";
    let yes = u32::MAX;
    assert_eq!(results::<u32>(body, 1, 1, 8), [yes, yes, yes, 0, 0, 0, 0, 0]);
}
