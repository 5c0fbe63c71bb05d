//! Modules whose instructions say what HSAIL does not know: they are refused, or become valid IR. A library that compiles in
//! our process ends it where IR is not valid.

mod support;

use hansa_finalizer::brig::Module;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use support::assembler::assemble;
use support::{translate_modules, verify, HEAD};

/// Something of everything.
const BODY: &str = "extension \"IMAGE\";
    prog global_u32 &g[3] = u32[](7, 8, 9); prog const readonly_u8 &r[4] = u8[](1, 2, 3, 4);
    private_u32 &mine; group_u64 &ours; fbarrier &meet;
    prog function &f(arg_u32 %r)(arg_u32 %n, arg_u8 %a[3]) {
        ld_arg_u32 $s0, [%n]; ld_arg_u8 $s1, [%a][1]; add_u32 $s0, $s0, $s1; st_arg_u32 $s0, [%r]; ret;
    };
    signature &s(arg_u32 %r)(arg_u32 %n, arg_u8 %a[3]);
    prog kernel &k(kernarg_u64 %out, kernarg_sig64 %signal, kernarg_rwimg %image, kernarg_samp %samp, kernarg_roimg %ro) {
        group_u32 %x[8]; private_u32 %p; spill_u64 %q;
        ld_kernarg_align(8)_u64 $d0, [%out]; ld_kernarg_sig64 $d1, [%signal]; ld_kernarg_rwimg $d2, [%image];
        ld_kernarg_samp $d3, [%samp]; ld_kernarg_roimg $d4, [%ro];
        workitemabsid_u32 $s0, 0; workitemflatabsid_u64 $d5; gridsize_u32 $s1, 1; dim_u32 $s2;
        add_u32 $s3, $s0, $s1; mulhi_s64 $d6, $d5, $d5; div_s32 $s4, $s3, $s1; fma_f32 $s5, $s1, $s2, $s3;
        add_up_f32 $s5, $s5, $s5; sqrt_f64 $d7, $d6; min_f16 $s6, $s1, $s2; add_pp_sat_u8x4 $s7, $s1, $s2;
        neg_s_s16x4 $d8, $d6; shl_u64 $d9, $d6, $s1; and_b1 $c0, $c1, $c2; bitextract_s32 $s8, $s1, 3, $s2;
        firstbit_u32_s64 $s9, $d6; combine_v2_b64_b32 $d10, ($s1, $s2); expand_v2_b32_b64 ($s10, $s11), $d10;
        mov_b128 $q0, $q1; cmov_b32 $s12, $c0, $s1, $s2; shuffle_u8x4 $s13, $s1, $s2, 0x1b; pack_u8x4_u32 $s14, $s1, $s2, $s3;
        unpack_s32_s16x2 $s15, $s1, 1; class_b1_f32 $c1, $s1, 3; nsin_f32 $s16, $s1; bitalign_b32 $s17, $s1, $s2, $s3;
        lerp_u8x4 $s18, $s1, $s2, $s3; packcvt_u8x4_f32 $s19, $s1, $s2, $s3, $s4; sad_u32_u8x4 $s20, $s1, $s2, $s3;
        stof_group_u64_u32 $d11, $s1; segmentp_private_b1_u64 $c2, $d11; nullptr_group_u32 $s21; lda_global_u64 $d12, [&g];
        cmp_ltu_b1_f32 $c3, $s1, $s2; cmp_lt_pp_u16x2_s16x2 $s22, $s1, $s2; cvt_upi_sat_u8_f32 $s23, $s1; cvt_f64_s32 $d13, $s1;
        cvt_ftz_f32_f64 $s24, $d13; ld_v2_global_u32 ($s25, $s26), [&g]; ld_readonly_u8 $s27, [&r][2];
        st_group_align(4)_u32 $s27, [%x][$s1]; st_private_u32 $s27, [&mine]; ld_spill_u64 $d14, [%q]; alloca_align(8)_u32 $s28, 32;
        atomic_wrapinc_global_scar_system_u32 $s29, [&g][4], 9; atomicnoret_add_group_rlx_wg_u64 [&ours], 1;
        atomic_cas_scacq_agent_b64 $d15, [$d0], 1, $d14; memfence_screl_agent; imagefence;
        signal_add_scar_s64_sig64 $d16, $d1, 1; signal_wait_eq_rlx_s64_sig64 $d16, $d1, 2; signalnoret_st_screl_b64_sig64 $d1, 3;
        addqueuewriteindex_global_rlx_u64 $d17, [$d0], 1;
        ldimage_v4_2d_u32_rwimg_u32 ($s1, $s2, $s3, $s4), $d2, ($s5, $s6);
        rdimage_v4_2d_f32_roimg_f32 ($s1, $s2, $s3, $s4), $d4, $d3, ($s5, $s6);
        stimage_v4_1db_f32_rwimg_u32 ($s1, $s2, $s3, $s4), $d2, $s5; queryimage_2d_height_u32_rwimg $s1, $d2;
        querysampler_addressing_u32 $s1, $d3;
        activelanecount_u32_b1 $s1, $c0; activelanepermute_b64 $d18, $d17, $s1, 0, $c1;
        activelanemask_v4_b64_b1 ($d19, $d20, $d21, $d22), $c0; laneid_u32 $s2; clock_u64 $d23; waveid_u32 $s3;
        initfbar &meet; joinfbar_width(64) &meet; waitfbar_width(64) &meet; barrier; wavebarrier;
        cbr_b1 $c0, @one; sbr_u32 $s1 [@one, @two];
        @one: { arg_u32 %v; arg_u32 %n; arg_u8 %a[3]; st_arg_u32 $s1, [%n]; call &f(%v)(%n, %a); ld_arg_u32 $s1, [%v]; }
        { arg_u32 %v; arg_u32 %n; arg_u8 %a[3]; icall_u64 $d0(%v)(%n, %a) &s; }
        br @two; debugtrap_u32 1; @two: st_global_u32 $s1, [$d0]; ret;
    };";

/// The IR of a broken module, if it is one that is translated.
fn translated(bytes: Vec<u8>) -> Option<String> {
    translate_modules(vec![Module::parse(bytes).ok()?], "gfx900").ok()
}

#[test]
fn every_byte_may_be_wrong() {
    /// How many of the modules that are translated go through LLVM's verifier.
    const VERIFIED: usize = 60;
    let good = assemble(&format!("{HEAD}{BODY}")).expect("HSAILasm of the package hsail-tools is installed");
    verify(&translated(good.clone()).expect("nothing is wrong yet"));
    let mut seen = HashSet::new();
    let (mut all, mut different) = (0, Vec::new());
    for at in 0..good.len() {
        for wrong in [0x01, 0x02, 0x08, 0x40, 0xff] {
            let mut bad = good.clone();
            bad[at] ^= wrong;
            all += 1;
            let Some(ir) = translated(bad) else { continue };
            let mut hasher = DefaultHasher::new();
            ir.hash(&mut hasher);
            if seen.insert(hasher.finish()) {
                different.push(ir);
            }
        }
    }
    assert!(
        different.len() > 500 && all - different.len() > 5000,
        "{} of {all}",
        different.len()
    );
    for ir in different.iter().step_by(different.len().div_ceil(VERIFIED)) {
        verify(ir);
    }
}
