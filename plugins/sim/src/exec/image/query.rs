//! Queries: sizes, and the level of detail that a sample would have.

use super::operands::{Address, Operands};
use super::sample::{bounded, held, level_of_detail};
use super::texture::{Resource, Shape};
use super::{bits, deliver, lanes_of, resource};
use crate::exec::op::{Flow, Op};
use crate::exec::wave::Wave;

/// `image_get_resinfo`: columns, rows, slices or layers at a level, and the number of levels.
pub(super) fn size(wave: &mut Wave, op: &Op) -> Flow {
    let lanes = wave.exec();
    let mut results = [[0; 4]; 64];
    if let Resource::Texture(texture) = resource(wave, op) {
        for lane in lanes_of(lanes) {
            let level = Operands::new(wave, op, lane).integer();
            results[lane][3] = texture.levels();
            if level < texture.levels() {
                let [columns, rows, slices] = texture.extent(level);
                let third = match texture.shape {
                    Shape::Solid => slices,
                    Shape::Cube => texture.layers() / 6,
                    _ => texture.layers(),
                };
                results[lane][..3].copy_from_slice(&[columns, rows, third]);
            }
        }
    }
    deliver(wave, op, lanes, op.x & bits::DMASK, false, &results);
    Flow::Next
}

/// `image_get_lod`: the level of detail that a sample takes, and as it is.
pub(super) fn lod(wave: &mut Wave, op: &Op) -> Flow {
    let lanes = wave.exec();
    let mut results = [[0; 4]; 64];
    match resource(wave, op) {
        Resource::Unbound => {}
        Resource::Texture(texture) => {
            let sampler = super::sample::sampler(wave, op);
            for lane in lanes_of(lanes) {
                let address = Address::new(wave, op, lane, &texture);
                let raw = level_of_detail(wave, op, lane, &texture, &sampler, &address);
                let held = held(&texture, bounded(&texture, &sampler, raw));
                results[lane][..2].copy_from_slice(&[held.to_bits(), raw.to_bits()]);
            }
        }
    }
    deliver(wave, op, lanes, op.x & bits::DMASK, false, &results);
    Flow::Next
}
