//! Loads, stores and atomics: elements at integer coordinates.
//!
//! What is outside reads as 0 in every component, which the selects then see, and is not written.

use super::operands::{has_layer, Operands};
use super::texture::{Place, Resource, Texture};
use super::{bits, deliver, element, half_of, kind_of, lanes_of, register, resource};
use crate::exec::atomic::{global_atomic, registers};
use crate::exec::format_access::{narrow, widen};
use crate::exec::guard::{self, Width};
use crate::exec::op::{Flow, Op};
use crate::exec::row::Row;
use crate::exec::vmem::{check_lanes, vanished};
use crate::exec::wave::Wave;

/// The place that a lane's operands name.
fn place(wave: &Wave, op: &Op, lane: usize, texture: &Texture) -> Place {
    let mut operands = Operands::new(wave, op, lane);
    let mut place = Place::default();
    for along in place.position.iter_mut().take(texture.shape.dimensions()) {
        *along = operands.integer();
    }
    if has_layer(op, texture) {
        place.layer = operands.integer();
    }
    if texture.shape.is_sampled() {
        place.sample = operands.integer();
    }
    if op.x & bits::LEVEL != 0 {
        place.level = operands.integer();
    }
    place
}

/// Computes every lane's address and returns the lanes that are inside.
fn addresses(wave: &mut Wave, op: &Op, texture: &Texture, lanes: u64) -> u64 {
    let mut inside = 0;
    for lane in lanes_of(lanes) {
        if let Some(address) = texture.address(place(wave, op, lane, texture)) {
            wave.address[lane] = address;
            inside |= 1 << lane;
        }
    }
    inside
}

/// The width in which elements of some bytes are moved.
fn width(bytes: usize) -> Width {
    match bytes % 4 {
        0 => Width::Dword,
        2 => Width::Short,
        _ => Width::Byte,
    }
}

/// The dwords of an element, without conversion.
fn raw(element: u128, bytes: usize, signed: bool) -> [u32; 4] {
    let words = [0, 32, 64, 96].map(|low| (element >> low) as u32);
    if signed && bytes < 4 {
        let up = 32 - 8 * bytes as u32;
        return [((words[0] << up) as i32 >> up) as u32, 0, 0, 0];
    }
    words
}

pub(super) fn load(wave: &mut Wave, op: &Op) -> Flow {
    let lanes = wave.exec();
    let mut results = [[0; 4]; 64];
    match resource(wave, op) {
        Resource::Unbound => {}
        Resource::Texture(texture) => {
            let inside = addresses(wave, op, &texture, lanes);
            let bytes = texture.layout.bytes();
            for lane in lanes_of(lanes) {
                let mut components = [0; 4];
                if inside >> lane & 1 != 0 {
                    let address = wave.address[lane];
                    let element = match element(wave, address, bytes) {
                        Ok(element) => element,
                        Err(flow) => return flow,
                    };
                    if op.x & bits::PACKED != 0 {
                        results[lane] = raw(element, bytes, op.x & bits::SIGNED != 0);
                        continue;
                    }
                    components = texture.layout.decode(texture.number, element);
                } else if op.x & bits::PACKED != 0 {
                    continue;
                }
                let channels = texture.channels(components);
                results[lane] = if op.x & bits::D16 != 0 {
                    channels.map(|channel| narrow(texture.number, channel))
                } else {
                    channels
                };
            }
        }
    }
    deliver(
        wave,
        op,
        lanes,
        op.x & bits::DMASK,
        op.x & bits::D16 != 0,
        &results,
    );
    Flow::Next
}

/// The channels that a lane stores; those that the mask leaves out are 0.
fn stored(wave: &Wave, op: &Op, lane: usize, texture: &Texture) -> [u32; 4] {
    let mut channels = [0; 4];
    let chosen = (0..4).filter(|channel| op.x >> channel & 1 != 0);
    for (n, channel) in chosen.enumerate() {
        channels[channel] = if op.x & bits::D16 != 0 {
            let pair = wave.row(register(op.b, n / 2)).0[lane];
            widen(texture.number, pair >> (16 * (n % 2)) & 0xffff)
        } else {
            wave.row(register(op.b, n)).0[lane]
        };
    }
    channels
}

pub(super) fn store(wave: &mut Wave, op: &Op) -> Flow {
    let lanes = wave.exec();
    let texture = match resource(wave, op) {
        Resource::Unbound => return Flow::Next,
        Resource::Texture(texture) => texture,
    };
    let lanes = addresses(wave, op, &texture, lanes);
    let bytes = texture.layout.bytes();
    if let Err(flow) = check_lanes(wave, lanes, bytes as u64, true) {
        return flow;
    }
    let mut elements = [0u128; 64];
    for lane in lanes_of(lanes) {
        let channels = stored(wave, op, lane, &texture);
        elements[lane] = if op.x & bits::PACKED != 0 {
            (0..4).fold(0, |all, n| all | u128::from(channels[n]) << (32 * n))
        } else {
            texture
                .layout
                .encode(texture.number, texture.components(channels))
        };
    }
    let width = width(bytes);
    for at in (0..bytes).step_by(width.bytes() as usize) {
        let part: [u32; 64] = std::array::from_fn(|lane| (elements[lane] >> (8 * at)) as u32);
        if let Err(unmapped) = guard::scatter(width, &part, &wave.address, lanes, at as u64) {
            return vanished(wave, unmapped, true);
        }
    }
    Flow::Next
}

pub(super) fn atomic(wave: &mut Wave, op: &Op) -> Flow {
    let lanes = wave.exec();
    let kind = kind_of(op);
    let bytes = 4 * usize::from(registers(kind.size()));
    let inside = match resource(wave, op) {
        Resource::Texture(texture) if texture.layout.bytes() == bytes => addresses(wave, op, &texture, lanes),
        _ => 0,
    };
    let flow = global_atomic(wave, kind, inside, op.b, op.d);
    if kind.returns() && lanes & !inside != 0 && flow == Flow::Next {
        for part in 0..registers(kind.size()) {
            *wave.spare[0] = Row::ZERO;
            wave.commit(register(op.d, part.into()), 0, lanes & !inside);
        }
    }
    flow
}

/// Half precision bits for the channels of a result.
pub(super) fn halves(texture: &Texture, channels: [u32; 4]) -> [u32; 4] {
    if texture.number.is_integer() {
        channels.map(|channel| channel & 0xffff)
    } else {
        channels.map(half_of)
    }
}
