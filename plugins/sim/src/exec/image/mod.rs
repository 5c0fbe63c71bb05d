//! MIMG: loads, stores, atomics and samples of images, and queries.
//!
//! A lane's address is in registers one after the other: offset, bias, reference, derivatives, coordinates, and a
//! level of detail, as far as the instruction has them. How many coordinates there are says the image's descriptor.
//! Accesses go lane by lane: an image has no pattern that is worth looking for, except for the reads of texels.

mod access;
mod operands;
mod query;
mod sample;
mod sampler;
mod texture;

use super::atomic::{Kind, Rmw};
use super::guard::{self, Size};
use super::level::{versions, Host};
use super::op::{Flow, Op, Versions};
use super::row::Row;
use super::scalar_float::Half;
use super::vmem::{refuse, vanished};
use super::wave::Wave;
use crate::isa::Mods;
use texture::Resource;

/// Bits of [`Op::x`].
mod bits {
    /// The lowest four are the mask of channels.
    pub(super) const DMASK: u64 = 15;
    /// Coordinates count elements.
    pub(super) const UNNORMALISED: u64 = 1 << 4;
    /// The image is an array.
    pub(super) const ARRAY: u64 = 1 << 5;
    /// Addresses have 16 bits.
    pub(super) const A16: u64 = 1 << 6;
    /// One more register is returned: a status.
    pub(super) const STATUS: u64 = 1 << 7;
    /// Data has 16 bits.
    pub(super) const D16: u64 = 1 << 8;
    /// The old value is returned.
    pub(super) const RETURNS: u64 = 1 << 9;
    /// There is a level, or a level of detail.
    pub(super) const LEVEL: u64 = 1 << 10;
    /// Elements are moved without conversion.
    pub(super) const PACKED: u64 = 1 << 11;
    /// And with their sign.
    pub(super) const SIGNED: u64 = 1 << 12;
    /// There is an offset in elements.
    pub(super) const OFFSET: u64 = 1 << 13;
    /// There is a bias of the level of detail.
    pub(super) const BIAS: u64 = 1 << 14;
    /// There is a reference to compare with.
    pub(super) const COMPARE: u64 = 1 << 15;
    /// There are derivatives.
    pub(super) const DERIVATIVES: u64 = 1 << 16;
    /// There is a least level of detail.
    pub(super) const CLAMP: u64 = 1 << 17;
    /// The level of detail is 0.
    pub(super) const ZERO: u64 = 1 << 18;
    /// One channel of four texels.
    pub(super) const GATHER: u64 = 1 << 19;
}

/// The image that the instruction names.
fn resource(wave: &Wave, op: &Op) -> Resource {
    let first = op.f as usize;
    Resource::new(std::array::from_fn(|i| wave.s[(first + i) & 511]))
}

/// A register `further` places behind `code`, in the same file.
fn register(code: u16, further: usize) -> u16 {
    code & 256 | code.wrapping_add(further as u16) & 255
}

/// Lanes of a mask.
fn lanes_of(lanes: u64) -> impl Iterator<Item = usize> {
    (0..64).filter(move |lane| lanes >> lane & 1 != 0)
}

/// Reads an element.
fn element(wave: &mut Wave, address: u64, bytes: usize) -> Result<u128, Flow> {
    if let Err((address, reason)) = wave.env.view.check(address, bytes as u64, false) {
        return Err(refuse(wave, address, false, reason));
    }
    let mut buffer = [0; 16];
    if let Err(unmapped) = guard::read_bytes(&mut buffer[..bytes], address) {
        return Err(vanished(wave, unmapped, false));
    }
    Ok(u128::from_le_bytes(buffer))
}

/// Puts results into registers: those that the mask names, or the packed halves of them, and a status.
fn deliver(wave: &mut Wave, op: &Op, lanes: u64, mask: u64, halves: bool, results: &[[u32; 4]; 64]) {
    let chosen: Vec<usize> = (0..4).filter(|channel| mask >> channel & 1 != 0).collect();
    let mut rows: Vec<Row> = Vec::with_capacity(5);
    if halves {
        for pair in chosen.chunks(2) {
            let mut row = Row::ZERO;
            for lane in lanes_of(lanes) {
                let low = results[lane][pair[0]] & 0xffff;
                let high = pair.get(1).map_or(0, |&channel| results[lane][channel] << 16);
                row.0[lane] = low | high;
            }
            rows.push(row);
        }
    } else {
        for &channel in &chosen {
            let mut row = Row::ZERO;
            for lane in lanes_of(lanes) {
                row.0[lane] = results[lane][channel];
            }
            rows.push(row);
        }
    }
    if rows.is_empty() {
        rows.push(Row::ZERO);
    }
    if op.x & bits::STATUS != 0 {
        // Everything is resident.
        rows.push(Row::ZERO);
    }
    for (n, row) in rows.into_iter().enumerate() {
        *wave.spare[0] = row;
        wave.commit(register(op.d, n), 0, lanes);
    }
}

/// A float as half precision bits.
fn half_of(bits: u32) -> u32 {
    Half::nearest(f32::from_bits(bits)).0.into()
}

#[inline(always)]
fn load<H: Host>(wave: &mut Wave, op: &Op) -> Flow {
    access::load(wave, op)
}

#[inline(always)]
fn store<H: Host>(wave: &mut Wave, op: &Op) -> Flow {
    access::store(wave, op)
}

#[inline(always)]
fn atomic<H: Host>(wave: &mut Wave, op: &Op) -> Flow {
    access::atomic(wave, op)
}

#[inline(always)]
fn sample<H: Host>(wave: &mut Wave, op: &Op) -> Flow {
    sample::sample(wave, op)
}

#[inline(always)]
fn size<H: Host>(wave: &mut Wave, op: &Op) -> Flow {
    query::size(wave, op)
}

#[inline(always)]
fn lod<H: Host>(wave: &mut Wave, op: &Op) -> Flow {
    query::lod(wave, op)
}

versions!(load_versions, load, [], []);
versions!(store_versions, store, [], []);
versions!(atomic_versions, atomic, [], []);
versions!(sample_versions, sample, [], []);
versions!(size_versions, size, [], []);
versions!(lod_versions, lod, [], []);

/// The handler of a mnemonic, and what the mnemonic says for [`Op::x`].
pub(crate) fn handler(name: &str) -> Option<(Versions, u64)> {
    let rest = name.strip_prefix("image_")?;
    let (kind, suffixes) = rest.split_once('_').unwrap_or((rest, ""));
    let flags = |allowed: &[(&str, u64)]| {
        let parts = suffixes.split('_').filter(|part| !part.is_empty());
        parts
            .map(|part| Some(allowed.iter().find(|(name, _)| *name == part)?.1))
            .try_fold(0, |all, bit| Some(all | bit?))
    };
    let moved = [("mip", bits::LEVEL), ("pck", bits::PACKED), ("sgn", bits::SIGNED)];
    let sampled = [
        ("o", bits::OFFSET),
        ("b", bits::BIAS),
        ("c", bits::COMPARE),
        ("d", bits::DERIVATIVES),
        ("cd", bits::DERIVATIVES),
        ("l", bits::LEVEL),
        ("cl", bits::CLAMP),
        ("lz", bits::ZERO),
    ];
    match kind {
        "load" => Some((load_versions::all(), flags(&moved)?)),
        "store" => Some((store_versions::all(), flags(&moved)?)),
        "sample" => Some((sample_versions::all(), flags(&sampled)?)),
        "gather4" => Some((sample_versions::all(), flags(&sampled)? | bits::GATHER)),
        "atomic" => {
            let (operation, _) = Rmw::parse(suffixes)?;
            Some((atomic_versions::all(), u64::from(operation as u16) << 32))
        }
        "get" if suffixes == "resinfo" => Some((size_versions::all(), 0)),
        "get" if suffixes == "lod" => Some((lod_versions::all(), 0)),
        _ => None,
    }
}

/// The payload: what the mnemonic and the modifiers say.
pub(crate) fn payload(name: u64, mods: &Mods) -> u64 {
    let flags = [
        (mods.unorm, bits::UNNORMALISED),
        (mods.da, bits::ARRAY),
        (mods.a16, bits::A16),
        (mods.tfe || mods.lwe, bits::STATUS),
        (mods.d16, bits::D16),
        (mods.glc, bits::RETURNS),
    ];
    let set = flags.iter().filter(|(set, _)| *set);
    set.fold(name | u64::from(mods.dmask & 15), |all, (_, bit)| all | bit)
}

/// The atomic of a payload: one or two dwords by the mask.
fn kind_of(op: &Op) -> Kind {
    let operation = Rmw::from_number((op.x >> 32) as u16);
    let wide = match operation {
        Rmw::CompareSwap => op.x & bits::DMASK == 15,
        _ => op.x & bits::DMASK == 3,
    };
    let size = if wide { Size::B64 } else { Size::B32 };
    Kind::new(operation, size, op.x & bits::RETURNS != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::{rows_of, Family, Target};

    #[test]
    fn every_image_instruction_has_a_handler() {
        for target in Target::ALL {
            for row in rows_of(target).filter(|row| row.family == Family::Mimg) {
                assert!(handler(row.name).is_some(), "{}", row.name);
            }
        }
    }

    #[test]
    fn mnemonics_say_which_operands_there_are() {
        let flags = |name| handler(name).expect(name).1;
        assert_eq!(flags("image_load"), 0);
        assert_eq!(
            flags("image_load_mip_pck_sgn"),
            bits::LEVEL | bits::PACKED | bits::SIGNED
        );
        assert_eq!(
            flags("image_sample_c_cd_cl_o"),
            bits::COMPARE | bits::DERIVATIVES | bits::CLAMP | bits::OFFSET
        );
        assert_eq!(flags("image_gather4_b"), bits::GATHER | bits::BIAS);
        assert!(handler("image_msaa_load").is_none());
    }

    #[test]
    fn registers_stay_in_their_file() {
        assert_eq!((register(254, 1), register(255, 1)), (255, 0));
        assert_eq!((register(510, 1), register(511, 1)), (511, 256));
    }
}
