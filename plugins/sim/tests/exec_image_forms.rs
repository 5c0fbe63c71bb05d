//! Image instructions that no compiler makes, by hand.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap,
    clippy::float_cmp,
    reason = "Test data are small numbers, and exact where they are compared"
)]

mod exec_support;

use exec_support::image::{Image, PLANE, RED, RGBA};
use exec_support::{assemble, Launch, Memory, Program};
use hansa_sim::exec::Level;
use hansa_sim::isa::Target;

/// Runs one instruction for 64 lanes: its address is in v1 to v8, its data in v20 to v27, which begin as v5 to v8 and zero.
/// `None` where there is no assembler.
fn by_hand(
    instruction: &str,
    memory: &Memory,
    image: [u32; 8],
    sampler: [u32; 4],
    inputs: impl Fn(u32) -> [u32; 8],
) -> Option<Vec<[u32; 8]>> {
    let text = format!(
        "s_load_dwordx2 s[30:31], s[8:9], 0x0
         s_load_dwordx2 s[32:33], s[8:9], 0x8
         s_load_dwordx2 s[34:35], s[8:9], 0x10
         s_load_dwordx2 s[36:37], s[8:9], 0x18
         s_waitcnt lgkmcnt(0)
         s_load_dwordx8 s[16:23], s[30:31], 0x0
         s_load_dwordx4 s[24:27], s[32:33], 0x0
         v_lshlrev_b32 v10, 5, v0
         global_load_dwordx4 v[1:4], v10, s[34:35]
         global_load_dwordx4 v[5:8], v10, s[34:35] offset:16
         s_waitcnt vmcnt(0) lgkmcnt(0)
         v_mov_b32 v20, v5
         v_mov_b32 v21, v6
         v_mov_b32 v22, v7
         v_mov_b32 v23, v8
         v_mov_b32 v24, 0
         v_mov_b32 v25, 0
         v_mov_b32 v26, 0
         v_mov_b32 v27, 0
         {instruction}
         s_waitcnt vmcnt(0)
         global_store_dwordx4 v10, v[20:23], s[36:37]
         global_store_dwordx4 v10, v[24:27], s[36:37] offset:16
         s_endpgm"
    );
    let words = assemble(&text, Target::Gfx900)?;
    let program = Program::raw(&words, Target::Gfx900, Level::chosen());
    let given: Vec<[u32; 8]> = (0..64).map(inputs).collect();
    let out = Memory::new(64 * 32);
    program.share(memory);
    let (image, sampler, given) = (Memory::of(&image), Memory::of(&sampler), Memory::of(&given));
    let launch = Launch::new(&program, "raw", 64, 64)
        .buffer(&image)
        .buffer(&sampler)
        .buffer(&given)
        .buffer(&out);
    launch
        .run()
        .unwrap_or_else(|fault| panic!("{instruction}: {fault}"));
    Some(out.values(64))
}

fn descriptor(image: &Image) -> [u32; 8] {
    image.words.values(8).try_into().expect("eight words")
}

/// Points and elements as they are.
const NEAREST: [u32; 4] = [2 * 0x49, 0xfff << 12, 0, 0];

/// A plane of one float in each element: column plus 100 times the row.
fn ramp(kind: u32, size: [u32; 3]) -> Image {
    let mut image = Image::new(kind, [4, 7, 4], RED, size);
    for at in image.places().collect::<Vec<_>>() {
        image.put(at, &((at[0] + 100 * at[1] + 10_000 * at[2]) as f32).to_le_bytes());
    }
    image
}

fn floats(lane: [u32; 8]) -> [f32; 4] {
    std::array::from_fn(|i| f32::from_bits(lane[i]))
}

#[test]
fn loads_outside_see_the_selects_only() {
    let image = ramp(PLANE, [8, 8, 1]);
    let load = "image_load v[20:24], v[1:2], s[16:23] dmask:0xf unorm tfe";
    let Some(found) = by_hand(load, &image.memory, descriptor(&image), NEAREST, |lane| {
        [lane % 16, lane / 16, 0, 0, 9, 9, 9, 9]
    }) else {
        return;
    };
    for (lane, found) in (0..64).zip(found) {
        let (x, y) = (lane % 16, lane / 16);
        let value = if x < 8 { (x + 100 * y) as f32 } else { 0.0 };
        assert_eq!(floats(found), [value, 0.0, 0.0, 1.0], "{lane}");
        assert_eq!(found[4], 0, "the status");
    }
    let none = "image_load v[20:23], v[1:2], s[16:23] dmask:0xf unorm";
    let found =
        by_hand(none, &image.memory, [0; 8], NEAREST, |_| [0, 0, 0, 0, 9, 9, 9, 9]).expect("as above");
    assert_eq!(found[5], [0; 8], "an unbound image");
}

#[test]
fn a_mask_packs_registers_and_halves() {
    let mut image = Image::new(PLANE, [10, 4, 4], RGBA, [8, 8, 1]);
    for at in image.places().collect::<Vec<_>>() {
        image.put(at, &[at[0] as u8, at[1] as u8, 200, 3]);
    }
    let at = |lane: u32| [lane % 8, lane / 8, 0, 0, 9, 9, 9, 9];
    let run = |text: &str| by_hand(text, &image.memory, descriptor(&image), NEAREST, at);
    let Some(found) = run("image_load v[20:21], v[1:2], s[16:23] dmask:0xa unorm") else {
        return;
    };
    assert_eq!(found[19][..3], [2, 3, 9]);
    let found = run("image_load v[20:21], v[1:2], s[16:23] dmask:0xd unorm d16").expect("as above");
    assert_eq!(found[19][..3], [3 | 200 << 16, 3, 9]);
    let found = run("image_load_pck v20, v[1:2], s[16:23] dmask:0x1 unorm").expect("as above");
    assert_eq!(found[19][..2], [0x03c8_0203, 9]);
    let narrow = |lane: u32| [(lane % 8) | ((lane / 8) << 16), 0, 0, 0, 9, 9, 9, 9];
    let text = "image_load v[20:23], v1, s[16:23] dmask:0xf unorm a16";
    let found = by_hand(text, &image.memory, descriptor(&image), NEAREST, narrow).expect("as above");
    assert_eq!(found[19][..4], [3, 2, 200, 3]);
}

#[test]
fn atomics_return_what_was_there() {
    let image = Image::new(PLANE, [4, 4, 4], RED, [4, 4, 1]);
    // All lanes of a column meet in one element, and every fifth lane is outside.
    let at = |lane: u32| [if lane % 5 == 4 { 4 } else { lane % 4 }, 0, 0, 0, lane, 9, 9, 9];
    let add = "image_atomic_add v20, v[1:2], s[16:23] dmask:0x1 unorm glc";
    let Some(found) = by_hand(add, &image.memory, descriptor(&image), NEAREST, at) else {
        return;
    };
    let mut sums = [0; 4];
    for (lane, found) in (0..64).zip(found) {
        if lane % 5 == 4 {
            assert_eq!(found[0], 0, "{lane}");
        } else {
            assert_eq!(found[0], sums[lane as usize % 4], "{lane}");
            sums[lane as usize % 4] += lane;
        }
    }
    for (x, sum) in (0..4).zip(sums) {
        assert_eq!(image.get([x, 0, 0]), sum.to_le_bytes());
    }
    let swap = "image_atomic_cmpswap v[20:21], v[1:2], s[16:23] dmask:0x3 unorm glc";
    let inputs = |lane: u32| [lane % 4, 0, 0, 0, 1000 + lane, sums[lane as usize % 4], 0, 0];
    let found = by_hand(swap, &image.memory, descriptor(&image), NEAREST, inputs).expect("as above");
    for lane in 0..8 {
        let expected = if lane < 4 { sums[lane] } else { 996 + lane as u32 };
        assert_eq!(found[lane][0], expected, "{lane}");
    }
    let wide = Image::new(PLANE, [11, 4, 8], 0x22c, [4, 4, 1]);
    let or = "image_atomic_or v[20:21], v[1:2], s[16:23] dmask:0x3 unorm";
    let inputs = |lane: u32| [1, 1, 0, 0, 1 << (lane % 32), if lane == 63 { 5 } else { 0 }, 0, 0];
    by_hand(or, &wide.memory, descriptor(&wide), NEAREST, inputs).expect("as above");
    assert_eq!(u64::from_le_bytes(wide.get([1, 1, 0])), 5 << 32 | 0xffff_ffff);
}

#[test]
fn a_gather_goes_around_the_footprint() {
    let image = ramp(PLANE, [8, 8, 1]);
    let at = |_| {
        let [x, y] = [3.0f32 / 8.0, 5.0 / 8.0].map(f32::to_bits);
        [x, y, 0, 0, 9, 9, 9, 9]
    };
    let text = "image_gather4_lz v[20:23], v[1:2], s[16:23], s[24:27] dmask:0x1";
    let Some(found) = by_hand(text, &image.memory, descriptor(&image), NEAREST, at) else {
        return;
    };
    assert_eq!(floats(found[0]), [502.0, 503.0, 403.0, 402.0]);
    let alpha = "image_gather4_lz v[20:23], v[1:2], s[16:23], s[24:27] dmask:0x8";
    let found = by_hand(alpha, &image.memory, descriptor(&image), NEAREST, at).expect("as above");
    assert_eq!(floats(found[0]), [1.0; 4]);
    // Texels 402, 403, 502, 503 against 450: less.
    let compare = "image_gather4_c_lz v[20:23], v[1:3], s[16:23], s[24:27] dmask:0x1";
    let at = |_| {
        let [reference, x, y] = [450.0f32, 3.0 / 8.0, 5.0 / 8.0].map(f32::to_bits);
        [reference, x, y, 0, 0, 0, 0, 0]
    };
    let less = [NEAREST[0] | 1 << 12, NEAREST[1], 0, 0];
    let found = by_hand(compare, &image.memory, descriptor(&image), less, at).expect("as above");
    assert_eq!(floats(found[0]), [1.0, 1.0, 0.0, 0.0]);
}

#[test]
fn comparisons_are_blended_and_offsets_are_in_elements() {
    let image = ramp(PLANE, [8, 8, 1]);
    let words = |reference: f32, x: f32, y: f32| [reference, x, y].map(f32::to_bits);
    let linear_less = [NEAREST[0] | 1 << 12 | 1 << 15, 0xfff << 12, 5 << 20, 0];
    let text = "image_sample_c_lz v20, v[1:3], s[16:23], s[24:27] dmask:0x1";
    let Some(found) = by_hand(text, &image.memory, descriptor(&image), linear_less, |_| {
        // A quarter of the way from column 2 to column 3, between the middles of rows 4 and 5.
        let [a, b, c] = words(402.5, 2.75, 5.0);
        [a, b, c, 0, 0, 0, 0, 0]
    }) else {
        return;
    };
    // Of 402, 403, 502 and 503 only the first is not larger.
    assert_eq!(f32::from_bits(found[0][0]), 1.0 - 0.75 * 0.5);
    let text = "image_sample_lz_o v20, v[1:3], s[16:23], s[24:27] dmask:0x1";
    let found = by_hand(text, &image.memory, descriptor(&image), NEAREST, |_| {
        let [_, x, y] = words(0.0, 4.5 / 8.0, 4.5 / 8.0);
        // Two columns back, three rows on.
        [0x3e | 3 << 8, x, y, 0, 0, 0, 0, 0]
    })
    .expect("as above");
    assert_eq!(f32::from_bits(found[0][0]), 702.0);
}

#[test]
fn levels_are_chosen_by_detail_bias_and_derivatives() {
    // Four levels of 8 by 8 below each other, each of one number.
    let mut image = ramp(PLANE, [8, 15, 1]);
    for (level, first, rows) in [(0, 0, 8u32), (1, 8, 4), (2, 12, 2), (3, 14, 1)] {
        for (y, x) in (0..rows).flat_map(|y| (0..8).map(move |x| (y, x))) {
            image.put([x, first + y, 0], &((level * 10) as f32).to_le_bytes());
        }
    }
    let mut words = descriptor(&image);
    words[2] = 7 | 7 << 14;
    words[3] |= 3 << 16;
    let nearest = [NEAREST[0], NEAREST[1], 1 << 26, 0];
    let linear = [NEAREST[0], NEAREST[1], 2 << 26, 0];
    let lods = [0.0f32, 0.75, 1.25, 3.0, 9.0, -2.0];
    let inputs = |lane: u32| {
        let [x, y, lod] = [0.3f32, 0.3, lods[lane as usize % 6]].map(f32::to_bits);
        [x, y, lod, 0, 0, 0, 0, 0]
    };
    let values = |text: &str, sampler, inputs: &dyn Fn(u32) -> [u32; 8]| {
        let found = by_hand(text, &image.memory, words, sampler, inputs)?;
        Some(
            found
                .into_iter()
                .map(|lane| f32::from_bits(lane[0]))
                .collect::<Vec<_>>(),
        )
    };
    let text = "image_sample_l v20, v[1:3], s[16:23], s[24:27] dmask:0x1";
    let Some(found) = values(text, nearest, &inputs) else {
        return;
    };
    assert_eq!(found[..6], [0.0, 10.0, 10.0, 30.0, 30.0, 0.0]);
    assert_eq!(
        values(text, linear, &inputs).expect("as above")[..6],
        [0.0, 7.5, 12.5, 30.0, 30.0, 0.0]
    );
    // A bias of -1 in the sampler.
    let biased = [NEAREST[0], NEAREST[1], 2 << 26 | 0x3f00, 0];
    assert_eq!(
        values(text, biased, &inputs).expect("as above")[..4],
        [0.0, 0.0, 2.5, 20.0]
    );
    // Four elements from column to column: level 2.
    let derivatives = |_| {
        let [du, zero, x] = [0.5f32, 0.0, 0.3].map(f32::to_bits);
        [du, zero, zero, zero, x, x, 0, 0]
    };
    let text = "image_sample_d v20, v[1:8], s[16:23], s[24:27] dmask:0x1";
    assert_eq!(values(text, linear, &derivatives).expect("as above")[0], 20.0);
    // The same from the lanes of a quad.
    let quad = |lane: u32| {
        let [x, y] = [(lane % 2) as f32 * 0.5, 0.3].map(f32::to_bits);
        [x, y, 0, 0, 0, 0, 0, 0]
    };
    let text = "image_sample v20, v[1:2], s[16:23], s[24:27] dmask:0x1";
    assert_eq!(values(text, linear, &quad).expect("as above")[..4], [20.0; 4]);
    let text = "image_get_lod v[20:21], v[1:2], s[16:23], s[24:27] dmask:0x3";
    let found = by_hand(text, &image.memory, words, linear, quad).expect("as above");
    assert_eq!(floats(found[0])[..2], [2.0, 2.0]);
    let text = "image_get_resinfo v[20:23], v1, s[16:23] dmask:0xf";
    let found = by_hand(text, &image.memory, words, NEAREST, |lane| {
        [lane, 0, 0, 0, 0, 0, 0, 0]
    })
    .expect("as above");
    assert_eq!(
        (found[0][..4].to_vec(), found[2][..4].to_vec()),
        (vec![8, 8, 1, 4], vec![2, 2, 1, 4])
    );
    assert_eq!(found[4][..4], [0, 0, 0, 4]);
    let text = "image_load_mip v20, v[1:3], s[16:23] dmask:0x1 unorm";
    let found = by_hand(text, &image.memory, words, NEAREST, |lane| {
        [0, 0, lane, 0, 0, 0, 0, 0]
    })
    .expect("as above");
    assert_eq!(
        [0, 1, 2, 3, 4].map(|lane: usize| f32::from_bits(found[lane][0])),
        [0.0, 10.0, 20.0, 30.0, 0.0]
    );
}

#[test]
fn every_instruction_keeps_to_the_bounds_of_the_level() {
    // Four levels, each of its number.
    let mut image = ramp(PLANE, [8, 15, 1]);
    for [x, y, z] in image.places().collect::<Vec<_>>() {
        let level = [8, 12, 14].iter().filter(|first| y >= **first).count();
        image.put([x, y, z], &(level as f32).to_le_bytes());
    }
    let mut words = descriptor(&image);
    words[2] = 7 | 7 << 14;
    words[3] |= 3 << 16;
    let mut least_is_1 = words;
    least_is_1[1] |= 0x100 << 8;
    let nearest = [NEAREST[0], NEAREST[1], 1 << 26, 0];
    let least_is_2 = [NEAREST[0], NEAREST[1] | 0x200, 1 << 26, 0];
    // Level 0, for the instruction that takes one, and as there is no change from lane to lane.
    let at = |_| [0.3f32.to_bits(), 0.3f32.to_bits(), 0, 0, 0, 0, 0, 0];
    for (image_words, sampler, expected) in [
        (words, nearest, 0.0),
        (least_is_1, nearest, 1.0),
        (words, least_is_2, 2.0),
    ] {
        for text in [
            "image_sample_l v20, v[1:3], s[16:23], s[24:27] dmask:0x1",
            "image_gather4_l v[20:23], v[1:3], s[16:23], s[24:27] dmask:0x1",
            "image_get_lod v[20:21], v[1:2], s[16:23], s[24:27] dmask:0x3",
        ] {
            let Some(found) = by_hand(text, &image.memory, image_words, sampler, at) else {
                return;
            };
            assert_eq!(floats(found[0])[0], expected, "{text}");
        }
    }
}

#[test]
fn the_border_is_seen_through_the_selects() {
    // Alpha only, in the first component.
    let mut image = Image::new(PLANE, [1, 0, 1], 4 << 9, [4, 4, 1]);
    image.put([0, 0, 0], &[255]);
    let mut words = descriptor(&image);
    words[4] |= 3 << 29;
    let text = "image_sample_lz v[20:23], v[1:2], s[16:23], s[24:27] dmask:0xf";
    let at = |lane: u32| {
        let [x, y] = [lane as f32 - 1.0 + 0.1, 0.1].map(f32::to_bits);
        [x, y, 0, 0, 9, 9, 9, 9]
    };
    for (colour, alpha) in [(0, 0.0), (1, 1.0), (2, 1.0)] {
        let border = [6 * 0x49, 0xfff << 12, 0, colour << 30];
        let Some(found) = by_hand(text, &image.memory, words, border, at) else {
            return;
        };
        assert_eq!(floats(found[0]), [0.0, 0.0, 0.0, alpha], "colour {colour}");
        assert_eq!(floats(found[1]), [0.0, 0.0, 0.0, 1.0]);
    }
}
