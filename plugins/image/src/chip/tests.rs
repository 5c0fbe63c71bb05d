//! Descriptors against words that were made with AMD's own bit fields (and the width as bound of buffers).

use super::*;
use crate::format::Format;
use crate::geometry::Extent;
use crate::layout::Layout;
use hansa_plugin_api::hsa::hsa_ext_image_format_t;

const ADDRESS: u64 = 0x7f12_3456_7800;

fn words(chip: Chip, order: u32, ty: u32, geometry: u32, sizes: [usize; 4]) -> [u32; IMAGE_WORDS] {
    let format = Format::new(hsa_ext_image_format_t {
        channel_type: ty,
        channel_order: order,
    })
    .expect("a format");
    let extent = Extent::new(Geometry(geometry), sizes).expect("an image");
    let layout = Layout::tight(&extent, &format);
    let surface = Surface {
        extent: &extent,
        format: &format,
        layout: &layout,
        address: ADDRESS,
    };
    chip.image(&surface).expect("a pitch that fits")
}

/// Order, type, geometry and sizes of the images below.
const IMAGES: [(u32, u32, u32, [usize; 4]); 5] = [
    (8, 2, 1, [100, 50, 0, 0]),
    (1, 15, 0, [1000, 0, 0, 0]),
    (3, 14, 4, [33, 17, 0, 5]),
    (1, 11, 2, [65, 64, 3, 0]),
    (9, 2, 1, [64, 64, 0, 0]),
];

fn are(chip: Chip, expected: [[u32; 5]; 5], buffer: u32) {
    for ((order, ty, geometry, sizes), expected) in IMAGES.into_iter().zip(expected) {
        let found = words(chip, order, ty, geometry, sizes);
        assert_eq!(found[..5], expected, "{chip:?} {order} {ty} {geometry}");
        assert_eq!(found[5..8], [0; 3]);
        assert_eq!(found[8..10], [ty, order]);
        assert_eq!(usize::try_from(found[10]).ok(), Some(sizes[0]));
    }
    let found = words(chip, 8, 15, 5, [1000, 0, 0, 0]);
    assert_eq!(found[..8], [0x3456_7800, 0x0010_7f12, 1000, buffer, 0, 0, 0, 0]);
}

#[test]
fn gfx9() {
    let expected = [
        [0x1234_5678, 0x00a0_007f, 0x000c_4063, 0x9000_0fac, 0x000f_e000],
        [0x1234_5678, 0x1c40_007f, 0x0fff_c3e7, 0x8000_0204, 0x207f_e000],
        [0x1234_5678, 0x1c50_007f, 0x0004_0020, 0xd000_022c, 0x0007_e004],
        [0x1234_5678, 0x1010_007f, 0x000f_c040, 0xa000_0204, 0x201f_e002],
        [0x1234_5678, 0x00a0_007f, 0x000f_c03f, 0x9000_0f2e, 0x8007_e000],
    ];
    are(Chip::Gfx9, expected, 0x0007_7fac);
}

#[test]
fn gfx10_3() {
    let expected = [
        [0x1234_5678, 0xc380_007f, 0x800c_4018, 0x9000_0fac, 0x0000_007f],
        [0x1234_5678, 0xc160_007f, 0x8000_00f9, 0x8200_0204, 0x0000_03ff],
        [0x1234_5678, 0x01d0_007f, 0x8004_0008, 0xd000_022c, 0x0000_0004],
        [0x1234_5678, 0x0050_007f, 0x800f_c010, 0xa200_0204, 0x0000_0002],
        [0x1234_5678, 0xc380_007f, 0x800f_c00f, 0x9800_0f2e, 0x0000_003f],
    ];
    are(Chip::Gfx103, expected, 0x0104_dfac);
}

#[test]
fn gfx11() {
    let expected = [
        [0x1234_5678, 0xc2a0_007f, 0x000c_4018, 0x9000_0fac, 0x0000_007f],
        [0x1234_5678, 0xc160_007f, 0x0000_00f9, 0x8200_0204, 0x0000_03ff],
        [0x1234_5678, 0x01d0_007f, 0x0004_0008, 0xd000_022c, 0x0000_0004],
        [0x1234_5678, 0x0050_007f, 0x000f_c010, 0xa200_0204, 0x0000_0002],
        [0x1234_5678, 0xc2a0_007f, 0x000f_c00f, 0x9800_0f2e, 0x0000_003f],
    ];
    are(Chip::Gfx11, expected, 0x0003_ffac);
}

#[test]
fn without_a_pitch_field_there_is_none() {
    assert_eq!(words(Chip::Gfx10, 8, 2, 1, [100, 50, 0, 0])[4], 0);
}

#[test]
fn processors_have_a_generation() {
    assert_eq!(Chip::of("gfx900"), Some(Chip::Gfx9));
    assert_eq!(Chip::of("gfx90a"), Some(Chip::Gfx9));
    assert_eq!(Chip::of("gfx1030"), Some(Chip::Gfx103));
    assert_eq!(Chip::of("gfx1100"), Some(Chip::Gfx11));
    assert_eq!(
        (
            Chip::of("gfx942"),
            Chip::of("gfx803"),
            Chip::of("aie2"),
            Chip::of("gfx")
        ),
        (None, None, None, None)
    );
}
