//! Samples: filtered elements at float coordinates.
//!
//! One level: fixed-point coordinates give two elements along each axis and a weight; elements are converted to
//! components, compared if the instruction compares, and blended along X, Y and Z. The selects come last. Integer
//! formats are never blended. Without derivatives of its own an instruction takes those of its quad: four lanes
//! side by side stand for two columns and two rows.

use super::access::halves;
use super::operands::Address;
use super::sampler::{Blend, Levels, Sampler, Taps};
use super::texture::{Place, Resource, Shape, Texture};
use super::{bits, deliver, element, lanes_of, resource};
use crate::exec::format::Number;
use crate::exec::op::{Flow, Op};
use crate::exec::slot::SCALAR;
use crate::exec::wave::Wave;

/// The sampler that the instruction names.
pub(super) fn sampler(wave: &Wave, op: &Op) -> Sampler {
    let first = usize::from(op.c.wrapping_sub(SCALAR));
    let words = std::array::from_fn(|i| wave.s[(first + i) & 511]);
    Sampler::new(words, op.x & bits::UNNORMALISED != 0)
}

pub(super) fn sample(wave: &mut Wave, op: &Op) -> Flow {
    let lanes = wave.exec();
    let gather = op.x & bits::GATHER != 0;
    let narrow = op.x & bits::D16 != 0;
    let mut results = [[0; 4]; 64];
    match resource(wave, op) {
        Resource::Unbound => {}
        Resource::Texture(texture) => {
            let sampler = sampler(wave, op);
            for lane in lanes_of(lanes) {
                let address = Address::new(wave, op, lane, &texture);
                let lod = level_of_detail(wave, op, lane, &texture, &sampler, &address);
                let one = Sample {
                    texture: &texture,
                    sampler: &sampler,
                    address: &address,
                    compares: op.x & bits::COMPARE != 0,
                };
                let result = if gather {
                    one.gather(wave, op, lod)
                } else {
                    one.filtered(wave, lod)
                };
                match result {
                    Ok(channels) if narrow => results[lane] = halves(&texture, channels),
                    Ok(channels) => results[lane] = channels,
                    Err(flow) => return flow,
                }
            }
        }
    }
    let mask = if gather { bits::DMASK } else { op.x & bits::DMASK };
    deliver(wave, op, lanes, mask, narrow, &results);
    Flow::Next
}

/// The level of detail before it is held in the sampler's bounds.
pub(super) fn level_of_detail(
    wave: &Wave,
    op: &Op,
    lane: usize,
    texture: &Texture,
    sampler: &Sampler,
    address: &Address,
) -> f32 {
    if op.x & bits::ZERO != 0 {
        return 0.0;
    }
    if op.x & bits::LEVEL != 0 {
        return address.lod + sampler.bias;
    }
    // One level, whatever the lod: nothing to compute, unless the size of texels chooses the filter.
    let asked = op.x & (bits::GATHER | bits::DERIVATIVES) == 0 && op.x & bits::DMASK & 3 != 0;
    let matters = texture.levels() > 1 || sampler.looks_at_lod() || asked;
    if sampler.is_unnormalised() || !matters {
        return 0.0;
    }
    let derivatives = if op.x & bits::DERIVATIVES != 0 {
        address.derivatives
    } else {
        let quad = lane & !3;
        let of = |lane| Address::new(wave, op, lane, texture).position;
        let [here, right, below] = [quad, quad + 1, quad + 2].map(of);
        [right, below].map(|there| std::array::from_fn(|axis| there[axis] - here[axis]))
    };
    let extent = texture.extent(0).map(|size| size as f32);
    let lengths = derivatives.map(|direction| {
        let squares = direction
            .iter()
            .zip(extent)
            .map(|(d, size)| (d * size) * (d * size));
        squares.sum::<f32>()
    });
    // The logarithm of a square root is half of it.
    let lod = 0.5 * lengths[0].max(lengths[1]).log2() + sampler.bias + address.bias;
    if op.x & bits::CLAMP != 0 {
        lod.max(address.lod)
    } else {
        lod
    }
}

/// A level of detail within the bounds of the sampler and above the image's least one.
pub(super) fn bounded(texture: &Texture, sampler: &Sampler, lod: f32) -> f32 {
    let [least, most] = sampler.lod;
    lod.max(least).min(most).max(texture.min_lod)
}

/// A level of detail within the image's levels.
pub(super) fn held(texture: &Texture, lod: f32) -> f32 {
    lod.clamp(0.0, texture.levels().saturating_sub(1) as f32)
}

/// One lane's sample.
struct Sample<'a> {
    texture: &'a Texture,
    sampler: &'a Sampler,
    address: &'a Address,
    compares: bool,
}

impl Sample<'_> {
    /// The blended channels.
    fn filtered(&self, wave: &mut Wave, lod: f32) -> Result<[u32; 4], Flow> {
        let lod = bounded(self.texture, self.sampler, lod);
        let linear = if self.texture.number.is_integer() {
            [false; 3]
        } else {
            self.sampler.linear(lod)
        };
        let held = held(self.texture, lod);
        match self.sampler.levels {
            Levels::First => self.level(wave, 0, linear),
            Levels::Nearest => self.level(wave, held.round_ties_even() as u32, linear),
            Levels::Linear => {
                let first = held.floor();
                let weight = ((held - first) * 256.0).floor() / 256.0;
                let here = self.level(wave, first as u32, linear)?;
                if weight == 0.0 || self.texture.number.is_integer() {
                    return Ok(here);
                }
                let next = self.level(wave, held.ceil() as u32, linear)?;
                Ok(std::array::from_fn(|i| {
                    blend(
                        Blend::Average,
                        f32::from_bits(here[i]),
                        f32::from_bits(next[i]),
                        weight,
                    )
                    .to_bits()
                }))
            }
        }
    }

    /// The elements that the coordinates touch along each axis.
    fn taps(&self, level: u32, linear: [bool; 3]) -> [Taps; 3] {
        let extent = self.texture.extent(level);
        std::array::from_fn(|axis| {
            if axis >= self.texture.shape.dimensions() {
                return Taps {
                    at: [Some(0); 2],
                    weight: 0.0,
                };
            }
            // Coordinates on a face have 1 added to them.
            let coordinate = if self.texture.shape == Shape::Cube {
                self.address.position[axis] - 1.0
            } else {
                self.address.position[axis]
            };
            let offset = self.address.offset[axis];
            self.sampler
                .taps(axis, coordinate, extent[axis], linear[axis], offset)
        })
    }

    /// The components of an element, or of the border; those of a comparison are its outcome.
    fn texel(&self, wave: &mut Wave, level: u32, at: [Option<u32>; 3]) -> Result<[u32; 4], Flow> {
        let inside = at[0].zip(at[1]).zip(at[2]);
        let place = inside.map(|((x, y), z)| Place {
            position: [x, y, z],
            layer: self.texture.layer(self.address.layer),
            level,
            sample: 0,
        });
        let components = match place.and_then(|place| self.texture.address(place)) {
            Some(address) => {
                let element = element(wave, address, self.texture.layout.bytes())?;
                self.texture.layout.decode(self.texture.number, element)
            }
            None => {
                let colour = self.sampler.border(self.texture.border_order);
                if self.texture.number.is_integer() {
                    colour.map(|channel| channel as u32)
                } else {
                    colour.map(f32::to_bits)
                }
            }
        };
        if !self.compares {
            return Ok(components);
        }
        let mut reference = self.address.reference;
        if self.texture.number == Number::Unorm {
            reference = reference.clamp(0.0, 1.0);
        }
        Ok([self
            .sampler
            .compare(reference, f32::from_bits(components[0]))
            .to_bits(); 4])
    }

    /// The channels that an instruction sees of components.
    fn channels(&self, components: [u32; 4]) -> [u32; 4] {
        if self.compares {
            components
        } else {
            self.texture.channels(components)
        }
    }

    /// The blended channels of one level.
    fn level(&self, wave: &mut Wave, level: u32, linear: [bool; 3]) -> Result<[u32; 4], Flow> {
        let [x, y, z] = self.taps(level, linear);
        if [x, y, z].iter().all(|taps| taps.weight == 0.0) {
            // One element, and its bits as they are.
            let components = self.texel(wave, level, [x.at[0], y.at[0], z.at[0]])?;
            return Ok(self.channels(components));
        }
        let along_x = |wave: &mut Wave, y, z| {
            self.between(wave, &x, |wave, x| {
                let components = self.texel(wave, level, [x, y, z])?;
                Ok(components.map(f32::from_bits))
            })
        };
        let along_y = |wave: &mut Wave, z| self.between(wave, &y, |wave, y| along_x(wave, y, z));
        let blended = self.between(wave, &z, along_y)?;
        Ok(self.channels(blended.map(f32::to_bits)))
    }

    /// Blends what is at the two elements of an axis; one with no weight is not looked at.
    fn between(
        &self,
        wave: &mut Wave,
        taps: &Taps,
        mut at: impl FnMut(&mut Wave, Option<u32>) -> Result<[f32; 4], Flow>,
    ) -> Result<[f32; 4], Flow> {
        let first = at(wave, taps.at[0])?;
        if taps.weight == 0.0 {
            return Ok(first);
        }
        let second = at(wave, taps.at[1])?;
        Ok(std::array::from_fn(|i| {
            blend(self.sampler.blend, first[i], second[i], taps.weight)
        }))
    }

    /// One channel of the four elements that would be blended: from the lower left one, as a plane is drawn with its
    /// first row at the top, against the clock.
    fn gather(&self, wave: &mut Wave, op: &Op, lod: f32) -> Result<[u32; 4], Flow> {
        let level = match self.sampler.levels {
            Levels::First => 0,
            _ => held(self.texture, bounded(self.texture, self.sampler, lod)).round_ties_even() as u32,
        };
        let [x, y, z] = self.taps(level, [true, true, false]);
        let channel = (op.x & bits::DMASK).trailing_zeros() as usize & 3;
        let mut values = [0; 4];
        for (value, [i, j]) in values.iter_mut().zip([[0, 1], [1, 1], [1, 0], [0, 0]]) {
            let components = self.texel(wave, level, [x.at[i], y.at[j], z.at[0]])?;
            *value = self.channels(components)[channel];
        }
        Ok(values)
    }
}

fn blend(how: Blend, first: f32, second: f32, weight: f32) -> f32 {
    match how {
        Blend::Average => first * (1.0 - weight) + second * weight,
        Blend::Minimum => first.min(second),
        Blend::Maximum => first.max(second),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blending_keeps_its_ends() {
        assert_eq!(blend(Blend::Average, 2.0, 6.0, 0.25), 3.0);
        assert_eq!(blend(Blend::Minimum, 2.0, -6.0, 0.25), -6.0);
        assert_eq!(blend(Blend::Maximum, 2.0, -6.0, 0.25), 2.0);
    }
}
