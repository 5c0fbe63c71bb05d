//! Whole kernels: memory, calls, control, identifiers.

mod support;

use support::device::{Launch, Memory};
use support::run::{program, programs, results, run};
use support::HEAD;

/// The address of this work-item's word of the output in `$d0`, and its number in `$s0`.
const WORD: &str = "workitemflatabsid_u32 $s0; cvt_u64_u32 $d0, $s0; shl_u64 $d0, $d0, 2;
    ld_kernarg_align(8)_u64 $d1, [%out]; add_u64 $d0, $d0, $d1;\n";

fn word_kernel(body: &str) -> String {
    word_kernel_with("", body)
}

/// A kernel with variables that stores `$s1` as its work-item's word.
fn word_kernel_with(variables: &str, body: &str) -> String {
    format!(
        "prog kernel &k(kernarg_u64 %out) {{ {variables} {WORD} {body} st_global_align(4)_u32 $s1, [$d0]; ret; }};"
    )
}

#[test]
fn threads_finalize_at_once() {
    let body = word_kernel("mov_b32 $s1, 7;");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..8 {
                    assert_eq!(results::<u32>(&body, 1, 1, 1), [7]);
                }
            });
        }
    });
}

#[test]
fn variables_have_their_first_values() {
    let body = format!(
        "prog global_u32 &g[3] = u32[](7, 8, 9);
         prog alloc(agent) global_u32 &h = 100;
         prog const readonly_u8 &r[4] = u8[](1, 2, 3, 4);
         {}",
        word_kernel(
            "ld_global_align(4)_u32 $s1, [&g][8];
             ld_global_align(4)_u32 $s2, [&h]; add_u32 $s1, $s1, $s2;
             cvt_u64_u32 $d3, 3; ld_readonly_u8 $s2, [&r][$d3]; add_u32 $s1, $s1, $s2;"
        )
    );
    assert_eq!(results::<u32>(&body, 1, 1, 1), [9 + 100 + 4]);
}

#[test]
fn what_is_stored_in_a_variable_stays_there() {
    let body = format!(
        "prog global_u32 &count = 5;
         {}",
        word_kernel("atomic_add_global_rlx_agent_u32 $s1, [&count], 3;")
    );
    let program = program(&body);
    let output = Memory::new(4);
    let values = [0; 2].map(|_| run::<u32>(&program, "&k", 1, 1, &[&output], 1)[0]);
    assert_eq!(values, [5, 8]);
}

#[test]
fn a_work_group_shares_its_memory() {
    let body = "prog kernel &k(kernarg_u64 %out) {
        group_u32 %part[64];
        workitemabsid_u32 $s0, 0; workitemid_u32 $s1, 0;
        shl_u32 $s2, $s1, 2; mul_u32 $s3, $s0, 3;
        st_group_align(4)_u32 $s3, [%part][$s2];
        barrier;
        sub_u32 $s4, 63, $s1; shl_u32 $s4, $s4, 2;
        ld_group_align(4)_u32 $s5, [%part][$s4];
        cvt_u64_u32 $d0, $s0; shl_u64 $d0, $d0, 2;
        ld_kernarg_align(8)_u64 $d1, [%out]; add_u64 $d0, $d0, $d1;
        st_global_align(4)_u32 $s5, [$d0];
        ret;
    };";
    let values = results::<u32>(body, 256, 64, 256);
    let expected: Vec<u32> = (0..256).map(|i| 3 * (i / 64 * 64 + 63 - i % 64)).collect();
    assert_eq!(values, expected);
}

#[test]
fn private_memory_belongs_to_a_work_item() {
    let body = word_kernel_with(
        "private_u32 %a[16]; spill_u32 %kept;",
        "st_spill_align(4)_u32 $s0, [%kept];
         mov_b32 $s2, 0;
         @fill: shl_u32 $s3, $s2, 2; add_u32 $s4, $s2, $s0; st_private_align(4)_u32 $s4, [%a][$s3];
         add_u32 $s2, $s2, 1; cmp_lt_b1_u32 $c0, $s2, 16; cbr_b1 $c0, @fill;
         and_b32 $s5, $s0, 15; shl_u32 $s5, $s5, 2;
         lda_private_u32 $s6, [%a]; add_u32 $s6, $s6, $s5;
         ld_private_align(4)_u32 $s1, [$s6];
         ld_spill_align(4)_u32 $s7, [%kept]; mul_u32 $s7, $s7, 1000; add_u32 $s1, $s1, $s7;",
    );
    let values = results::<u32>(&body, 64, 64, 64);
    let expected: Vec<u32> = (0..64).map(|i| i % 16 + i + 1000 * i).collect();
    assert_eq!(values, expected);
}

#[test]
fn flat_addresses_reach_every_segment() {
    let body = word_kernel_with(
        "group_u32 %g; private_u32 %p;",
        "lda_group_u32 $s2, [%g]; stof_group_u64_u32 $d2, $s2;
         lda_private_u32 $s3, [%p]; stof_private_u64_u32 $d3, $s3;
         st_align(4)_u32 11, [$d2]; st_align(4)_u32 22, [$d3];
         ftos_private_u32_u64 $s4, $d3; ld_private_align(4)_u32 $s5, [$s4];
         ld_group_align(4)_u32 $s6, [%g];
         segmentp_group_b1_u64 $c0, $d2; cvt_u32_b1 $s7, $c0;
         segmentp_global_b1_u64 $c0, $d0; cvt_u32_b1 $s8, $c0; shl_u32 $s8, $s8, 1; or_b32 $s7, $s7, $s8;
         segmentp_private_b1_u64 $c0, $d0; cvt_u32_b1 $s8, $c0; shl_u32 $s8, $s8, 2; or_b32 $s7, $s7, $s8;
         nullptr_group_u32 $s9; stof_group_u64_u32 $d4, $s9; cmp_eq_b1_u64 $c0, $d4, 0; cvt_u32_b1 $s8, $c0;
         shl_u32 $s8, $s8, 3; or_b32 $s7, $s7, $s8;
         mul_u32 $s1, $s5, 100; add_u32 $s1, $s1, $s6; shl_u32 $s1, $s1, 8; or_b32 $s1, $s1, $s7;",
    );
    assert_eq!(results::<u32>(&body, 1, 1, 1), [(2211 << 8) | 0b1011]);
}

#[test]
fn loads_extend_and_vectors_are_contiguous() {
    let body = "prog kernel &k(kernarg_u64 %out, kernarg_u64 %in) {
        ld_kernarg_align(8)_u64 $d0, [%out]; ld_kernarg_align(8)_u64 $d1, [%in];
        ld_global_s8 $s0, [$d1]; ld_global_u8 $s1, [$d1]; ld_global_s16 $s2, [$d1+1]; ld_global_u16 $s3, [$d1+1];
        st_v4_global_align(4)_u32 ($s0, $s1, $s2, $s3), [$d0];
        ld_v3_global_u32 ($s4, $s5, $s6), [$d1+3];
        st_v3_global_align(4)_u32 ($s4, $s5, $s6), [$d0+16];
        ld_v2_global_u64 ($d2, $d3), [$d1+5]; combine_v2_b128_b64 $q0, ($d2, $d3);
        expand_v4_b32_b128 ($s7, $s8, $s9, $s10), $q0;
        st_v4_global_u32 ($s7, $s8, $s9, WAVESIZE), [$d0+28];
        st_global_u8 $s0, [$d0+44];
        ret;
    };";
    let bytes: Vec<u8> = (0..32u8).map(|i| i.wrapping_mul(7).wrapping_add(0x81)).collect();
    let (output, input) = (Memory::new(48), Memory::of(&bytes));
    let values = run::<u32>(&program(body), "&k", 1, 1, &[&output, &input], 12);
    let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    let short = u16::from_le_bytes([bytes[1], bytes[2]]);
    assert_eq!(values[..2], [0xffff_ff81, 0x81]);
    assert_eq!(
        values[2..4],
        [
            u32::from(short) | (0xffff_0000 * u32::from(short >> 15)),
            short.into()
        ]
    );
    assert_eq!(values[4..7], [word(3), word(7), word(11)]);
    assert_eq!(values[7..11], [word(5), word(9), word(13), 64]);
    assert_eq!(values[11], 0x81);
}

#[test]
fn functions_call_themselves_and_keep_registers() {
    let body = format!(
        "prog function &sum(arg_u32 %r)(arg_u32 %n) {{
            ld_arg_align(4)_u32 $s0, [%n];
            cmp_eq_b1_u32 $c0, $s0, 0; cbr_b1 $c0, @zero;
            sub_u32 $s1, $s0, 1;
            {{ arg_u32 %v; arg_u32 %m; st_arg_align(4)_u32 $s1, [%m]; call &sum(%v)(%m); ld_arg_align(4)_u32 $s2, [%v]; }}
            add_u32 $s2, $s2, $s0; st_arg_align(4)_u32 $s2, [%r]; ret;
            @zero: st_arg_align(4)_u32 0, [%r];
        }};
        {}",
        word_kernel("{ arg_u32 %v; arg_u32 %m; st_arg_u32 $s0, [%m]; call &sum(%v)(%m); ld_arg_u32 $s1, [%v]; }")
    );
    let values = results::<u32>(&body, 32, 32, 32);
    let expected: Vec<u32> = (0..32).map(|n| n * (n + 1) / 2).collect();
    assert_eq!(values, expected);
}

#[test]
fn arrays_are_arguments_and_results() {
    let body = format!(
        "prog function &swap(arg_u32 %r[2])(arg_u32 %a[2], arg_f32 %f) {{
            ld_arg_u32 $s0, [%a]; ld_arg_u32 $s1, [%a][4]; ld_arg_f32 $s2, [%f]; cvt_u32_f32 $s2, $s2;
            add_u32 $s0, $s0, $s2;
            st_arg_u32 $s1, [%r]; st_arg_u32 $s0, [%r][4];
        }};
        prog function &first(arg_u8 %r)(arg_u8 %open[]) {{ ld_arg_u8 $s0, [%open][2]; st_arg_u8 $s0, [%r]; }};
        {}",
        word_kernel(
            "{ arg_u32 %v[2]; arg_u32 %m[2]; arg_f32 %f;
               st_arg_u32 $s0, [%m]; st_arg_u32 77, [%m][4]; st_arg_f32 2.5f, [%f];
               call &swap(%v)(%m, %f);
               ld_arg_u32 $s1, [%v]; ld_arg_u32 $s2, [%v][4]; }
             mul_u32 $s1, $s1, 100; add_u32 $s1, $s1, $s2;
             { arg_u8 %v; arg_u8 %m[3]; st_arg_u8 200, [%m][2]; call &first(%v)(%m); ld_arg_u8 $s2, [%v]; }
             shl_u32 $s2, $s2, 16; add_u32 $s1, $s1, $s2;"
        )
    );
    let values = results::<u32>(&body, 4, 4, 4);
    let expected: Vec<u32> = (0..4).map(|n| 7700 + n + 2 + (200 << 16)).collect();
    assert_eq!(values, expected);
}

#[test]
fn switches_jump_and_call() {
    let body = format!(
        "prog function &one(arg_u32 %r)(arg_u32 %n) {{ ld_arg_u32 $s0, [%n]; add_u32 $s0, $s0, 1; st_arg_u32 $s0, [%r]; }};
         prog function &two(arg_u32 %r)(arg_u32 %n) {{ ld_arg_u32 $s0, [%n]; mul_u32 $s0, $s0, 2; st_arg_u32 $s0, [%r]; }};
         {}",
        word_kernel(
            "rem_u32 $s2, $s0, 3; sbr_u32 $s2 [@a, @b, @c];
             @a: mov_b32 $s3, 1000; br @done; @b: mov_b32 $s3, 2000; br @done; @c: mov_b32 $s3, 3000;
             @done: and_b32 $s4, $s0, 1; cvt_u64_u32 $d4, $s4;
             { arg_u32 %v; arg_u32 %m; st_arg_u32 $s0, [%m]; scall_u64 $d4 (%v)(%m) [&one, &two]; ld_arg_u32 $s1, [%v]; }
             add_u32 $s1, $s1, $s3;"
        )
    );
    let values = results::<u32>(&body, 64, 64, 64);
    let expected: Vec<u32> = (0..64)
        .map(|n| [1000, 2000, 3000][n % 3] + if n % 2 == 1 { 2 * n } else { n + 1 })
        .map(|n| u32::try_from(n).expect("small"))
        .collect();
    assert_eq!(values, expected);
}

#[test]
fn modules_are_one_program() {
    let caller = format!(
        "{HEAD}decl prog function &other(arg_u32 %r)(); decl prog global_u32 &shared; {}",
        word_kernel(
            "{ arg_u32 %v; call &other(%v)(); ld_arg_u32 $s1, [%v]; } ld_global_u32 $s2, [&shared]; add_u32 $s1, $s1, $s2;"
        )
    );
    let callee = "module &second:1:0:$full:$large:$default;
        prog global_u32 &shared = 40;
        private_u32 &mine;
        function &hidden()() { ld_private_u32 $s0, [&mine]; add_u32 $s0, $s0, 1; st_private_u32 $s0, [&mine]; };
        prog function &other(arg_u32 %r)() {
            st_private_u32 5, [&mine]; { call &hidden()(); } { call &hidden()(); }
            ld_private_u32 $s0, [&mine]; st_arg_u32 $s0, [%r];
        };";
    let program = programs(&[&caller, callee]);
    let output = Memory::new(256);
    let values = run::<u32>(&program, "&k", 64, 64, &[&output], 64);
    assert_eq!(values, [47; 64]);
}

#[test]
fn kernels_of_module_linkage_carry_the_module() {
    let body =
        "kernel &local(kernarg_u64 %out) { ld_kernarg_u64 $d0, [%out]; st_global_u32 9, [$d0]; ret; };";
    let output = Memory::new(4);
    assert_eq!(
        run::<u32>(&program(body), "&test::&local", 1, 1, &[&output], 1),
        [9]
    );
}

#[test]
fn arguments_are_where_the_manual_puts_them() {
    let body = "prog kernel &k(kernarg_u64 %out, kernarg_u8 %a, kernarg_u16 %b, kernarg_u8 %c, align(32) kernarg_u32 %d,
            kernarg_u8 %e[3]) {
        ld_kernarg_u64 $d0, [%out];
        lda_kernarg_u64 $d1, [%out]; lda_kernarg_u64 $d2, [%a]; lda_kernarg_u64 $d3, [%b]; lda_kernarg_u64 $d4, [%c];
        lda_kernarg_u64 $d5, [%d]; lda_kernarg_u64 $d6, [%e]; kernargbaseptr_u64 $d7;
        sub_u64 $d2, $d2, $d1; sub_u64 $d3, $d3, $d1; sub_u64 $d4, $d4, $d1; sub_u64 $d5, $d5, $d1;
        sub_u64 $d6, $d6, $d1; sub_u64 $d7, $d7, $d1;
        st_global_u64 $d2, [$d0]; st_global_u64 $d3, [$d0+8]; st_global_u64 $d4, [$d0+16]; st_global_u64 $d5, [$d0+24];
        st_global_u64 $d6, [$d0+32]; st_global_u64 $d7, [$d0+40];
        ret;
    };";
    let program = program(body);
    let (_, descriptor) = program.kernel("&k");
    assert_eq!(descriptor.kernarg_bytes, 48);
    let output = Memory::new(48);
    assert_eq!(
        run::<u64>(&program, "&k", 1, 1, &[&output], 6),
        [8, 10, 12, 32, 36, 0]
    );
}

#[test]
fn identifiers_count_in_three_dimensions() {
    let names = [
        "workitemabsid_u32 $s1, 0",
        "workitemabsid_u32 $s1, 1",
        "workitemabsid_u32 $s1, 2",
        "workitemid_u32 $s1, 1",
        "workgroupid_u32 $s1, 0",
        "workgroupsize_u32 $s1, 1",
        "currentworkgroupsize_u32 $s1, 0",
        "currentworkgroupsize_u32 $s1, 1",
        "gridsize_u32 $s1, 2",
        "gridgroups_u32 $s1, 0",
        "workitemflatid_u32 $s1",
        "currentworkitemflatid_u32 $s1",
        "dim_u32 $s1",
        "workitemflatabsid_u64 $d5; cvt_u32_u64 $s1, $d5",
        "gridsize_u64 $d5, 0; cvt_u32_u64 $s1, $d5",
    ];
    let stores: String = (0..)
        .zip(names)
        .map(|(index, name): (u32, _)| format!("{name}; st_global_u32 $s1, [$d0+{}];\n", 4 * index))
        .collect();
    let row = names.len();
    let body = format!(
        "prog kernel &k(kernarg_u64 %out) {{
            workitemflatabsid_u64 $d0; mul_u64 $d0, $d0, {}; ld_kernarg_u64 $d1, [%out]; add_u64 $d0, $d0, $d1;
            {stores} ret; }};",
        4 * row
    );
    let (grid, group) = ([10u32, 7, 3], [4u32, 4, 2]);
    let items = 10 * 7 * 3;
    let output = Memory::new(items * row * 4);
    let program = program(&body);
    let shape = [4, 4, 2];
    Launch::new(&program, "&k", 1, 1)
        .buffer(&output)
        .shape(grid, shape)
        .run()
        .expect("the kernel runs");
    let values: Vec<u32> = output.values(items * row);
    let mut flat = 0;
    for z in 0..3 {
        for y in 0..7 {
            for x in 0..10u32 {
                let id = [x % 4, y % 4, z % 2];
                let current = [(grid[0] - x / 4 * 4).min(4), (grid[1] - y / 4 * 4).min(4)];
                let expected = [
                    x,
                    y,
                    z,
                    id[1],
                    x / 4,
                    4,
                    current[0],
                    current[1],
                    3,
                    3,
                    id[0] + group[0] * (id[1] + group[1] * id[2]),
                    id[0] + current[0] * (id[1] + current[1] * id[2]),
                    3,
                    flat,
                    10,
                ];
                let at = flat as usize * row;
                // The engine's packets say three dimensions whatever the shape.
                assert_eq!(values[at..at + row], expected, "{x} {y} {z}");
                flat += 1;
            }
        }
    }
}

#[test]
fn memory_is_made_as_a_kernel_goes() {
    let body = word_kernel(
        "alloca_align(16)_u32 $s2, 64; and_b32 $s3, $s2, 15;
         add_u32 $s4, $s2, 60; st_private_align(4)_u32 $s0, [$s4]; ld_private_align(4)_u32 $s1, [$s2+60];
         add_u32 $s1, $s1, $s3;",
    );
    let values = results::<u32>(&body, 64, 64, 64);
    assert_eq!(values, (0..64).collect::<Vec<u32>>());
}

#[test]
fn native_operations_are_close() {
    let body = "prog kernel &k(kernarg_u64 %out) {
        ld_kernarg_u64 $d0, [%out];
        ncos_f32 $s1, 1.0f; st_global_f32 $s1, [$d0]; nsin_f32 $s1, 2.0f; st_global_f32 $s1, [$d0+4];
        nexp2_f32 $s1, 3.5f; st_global_f32 $s1, [$d0+8]; nlog2_f32 $s1, 10.0f; st_global_f32 $s1, [$d0+12];
        nrcp_f32 $s1, 3.0f; st_global_f32 $s1, [$d0+16]; nrsqrt_f32 $s1, 2.0f; st_global_f32 $s1, [$d0+20];
        nsqrt_f32 $s1, 2.0f; st_global_f32 $s1, [$d0+24]; nfma_f32 $s1, 2.0f, 3.0f, 4.0f; st_global_f32 $s1, [$d0+28];
        nrcp_f64 $d1, 0D4010000000000000; cvt_f32_f64 $s1, $d1; st_global_f32 $s1, [$d0+32];
        ret;
    };";
    let expected = [
        1f32.cos(),
        2f32.sin(),
        3.5f32.exp2(),
        10f32.log2(),
        1.0 / 3.0,
        0.5f32.sqrt(),
        2f32.sqrt(),
        10.0,
        0.25,
    ];
    let values = results::<f32>(body, 1, 1, 9);
    for (value, expected) in values.iter().zip(expected) {
        assert!((value - expected).abs() <= expected.abs() * 1e-5, "{values:?}");
    }
}
