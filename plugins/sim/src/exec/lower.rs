//! From a decoded instruction to predecoded operations.

use hansa_plugin_api::fork::Lazy;
use std::collections::HashMap;

use super::bundle::Together;
use super::control::{self, FAR};
use super::define::Entry;
use super::flat::NO_ADDRESS;
use super::hot::Kind;
use super::level::Level;
use super::modifiers::Ext;
use super::mubuf;
use super::op::{flag, Handler, Op, Versions};
use super::slot::{self, SCALAR};
use super::valu::{is_scalar, Shape, SHAPED};
use super::vmem::Layout;
use super::{
    affine, ds, flat, flat_atomic, format_access, image, lane, mfma, smem, sop, vop1, vop2, vop3, vop3p,
    vopc, wave_sync,
};
use crate::isa::{Family, Inst, Operand, Row, SlotKind, Special, Ty};

/// Where an instruction is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    /// Its address.
    pub(crate) pc: u64,
    /// Address of the chunk it is in.
    pub(crate) chunk: u64,
    /// Instruction slots of the chunk.
    pub(crate) slots: u64,
    /// Which versions of handlers to take.
    pub(crate) level: Level,
    /// Whether registers have an error correcting code.
    pub(crate) sram_ecc: bool,
}

/// An instruction as operations.
#[derive(Clone, Copy)]
pub(crate) enum Lowered {
    /// Nothing to do at run time.
    Nothing,
    /// One operation.
    One(Op),
    /// One operation after its condition sources have been evaluated.
    Evaluated(Op),
}

static LANE_BY_LANE: Lazy<HashMap<&'static str, &'static Entry>> = Lazy::new(|| {
    let tables = [vop1::TABLE, vop2::TABLE, vop3::TABLE, vop3p::TABLE];
    let tables = tables.into_iter().chain(vopc::TABLES);
    tables.flatten().map(|entry| (entry.name, entry)).collect()
});

static ACROSS_LANES: Lazy<HashMap<&'static str, Versions>> =
    Lazy::new(|| lane::TABLE.iter().chain(vop3p::CUSTOM).copied().collect());

static SCALARS: Lazy<HashMap<&'static str, Handler>> = Lazy::new(|| {
    let tables = [sop::SOP1, sop::SOP2, sop::SOPC, sop::SOPK, control::OTHERS];
    tables.into_iter().flatten().copied().collect()
});

static BRANCHES: Lazy<HashMap<&'static str, Handler>> =
    Lazy::new(|| control::BRANCHES.iter().copied().collect());

static JUMPS: Lazy<HashMap<&'static str, Handler>> =
    Lazy::new(|| control::JUMPS.iter().chain(control::FORKS).copied().collect());

/// Half operations of GFX9 that keep the half of their destination that they do not write; all others
/// clear it.
const KEEP_HALF: [&str; 5] = [
    "v_mad_f16",
    "v_mad_u16",
    "v_mad_i16",
    "v_fma_f16",
    "v_div_fixup_f16",
];

/// Vector operations that relative VGPR indexing leaves alone.
const NOT_INDEXED: [&str; 3] = ["v_readlane_b32", "v_readfirstlane_b32", "v_writelane_b32"];

/// Whether the engine can execute the instruction.
#[must_use]
pub fn is_implemented(row: &Row) -> bool {
    let name = row.name;
    if control::IDLE.contains(&name) {
        return true;
    }
    match row.family {
        Family::Sop1 | Family::Sop2 | Family::Sopc | Family::Sopk | Family::Sopp => {
            SCALARS.contains_key(name) || BRANCHES.contains_key(name) || JUMPS.contains_key(name)
        }
        Family::Smem => smem::handler(name, false).is_some(),
        Family::Vop1 | Family::Vop2 | Family::Vop3 | Family::Vopc | Family::Vop3p => {
            LANE_BY_LANE.contains_key(compare_name(name).as_str())
                || ACROSS_LANES.contains_key(name)
                || mfma::handler(name).is_some()
        }
        Family::Ds => ds::handler(name).is_some() || wave_sync::handler(name).is_some(),
        Family::Flat | Family::Global | Family::Scratch => {
            flat::handler(name).is_some() || flat_atomic::handler(name, false).is_some()
        }
        Family::Mubuf => mubuf::handler(name, false).is_some() || format_access::handler(name).is_some(),
        Family::Mtbuf => format_access::handler(name).is_some(),
        Family::Mimg => image::handler(name).is_some(),
        Family::Vintrp | Family::Exp => false,
    }
}

/// The name under which a compare's semantics are listed.
fn compare_name(name: &str) -> String {
    name.replacen("v_cmpx_", "v_cmp_", 1)
}

/// Lowers an instruction; `None` if the engine cannot execute it.
pub(crate) fn lower(inst: &Inst, place: Place) -> Option<Lowered> {
    let name = inst.row.name;
    if control::IDLE.contains(&name) {
        return Some(Lowered::Nothing);
    }
    let mut op = match inst.row.family {
        Family::Sop1 | Family::Sop2 | Family::Sopc | Family::Sopk | Family::Sopp => scalar(inst, place)?,
        Family::Smem => scalar_memory(inst, place)?,
        Family::Vop1 | Family::Vop2 | Family::Vop3 | Family::Vopc | Family::Vop3p => vector(inst, place)?,
        Family::Ds => data_share(inst, place)?,
        Family::Flat | Family::Global | Family::Scratch => by_address(inst, place)?,
        Family::Mubuf | Family::Mtbuf => buffer(inst, place)?,
        Family::Mimg => texture(inst, place)?,
        Family::Vintrp | Family::Exp => return None,
    };
    let scalar_families = [
        Family::Sop1,
        Family::Sop2,
        Family::Sopc,
        Family::Sopk,
        Family::Sopp,
        Family::Smem,
    ];
    if !scalar_families.contains(&inst.row.family) {
        op.e |= flag::VECTOR;
    }
    (op.reads, op.writes) = affine::touched(inst, &op);
    if inst.src.iter().any(|operand| slot::needs_evaluation(*operand)) {
        Some(Lowered::Evaluated(op))
    } else {
        Some(Lowered::One(op))
    }
}

/// An operation with nothing filled in but its handler.
pub(crate) fn blank(run: Handler) -> Op {
    Op {
        run,
        x: 0,
        d: SCALAR + slot::SINK as u16,
        a: 0,
        b: 0,
        c: 0,
        next: 0,
        e: 0,
        f: 0,
        reads: 0,
        writes: 0,
        kind: Kind::Other,
        together: Together::Not,
    }
}

fn version(versions: Versions, level: Level) -> Handler {
    versions[level as usize]
}

/// Operand codes of the sources, and the literal among them.
fn sources(inst: &Inst) -> ([u16; 4], Option<u64>) {
    let mut codes = [0; 4];
    let mut literal = None;
    for (i, operand) in inst.src.iter().enumerate() {
        if let Some((code, value)) = slot::code(*operand, inst.row.src[i].ty) {
            codes[i] = code;
            literal = literal.or(value);
        }
    }
    (codes, literal)
}

/// Code of a destination; the sink if there is none. Registers of trap handlers are not for programs to write.
fn written(operand: Operand, ty: Ty) -> u16 {
    match slot::code(operand, ty) {
        Some((code, _)) if !matches!(operand, Operand::Special(Special::Ttmp(_))) => code,
        _ => SCALAR + slot::SINK as u16,
    }
}

/// Code of the destination of a row.
fn destination(operand: Operand, row: &Row) -> u16 {
    written(operand, row.dst.ty)
}

/// Code of an address that may be absent.
fn address(operand: Operand, row: &Row, source: usize) -> u16 {
    slot::code(operand, row.src[source].ty).map_or(NO_ADDRESS, |(code, _)| code)
}

fn scalar(inst: &Inst, place: Place) -> Option<Op> {
    let name = inst.row.name;
    let (codes, literal) = sources(inst);
    let next = place.pc.wrapping_add(inst.size.into());
    // s_set_gpr_idx_on has its mask in the place of its second source.
    let immediate = match inst.src[1] {
        Operand::Int(mask) if inst.row.src[1].kind == SlotKind::Imm => mask,
        _ => inst.imm,
    };
    let filled = |run, x| Op {
        x,
        d: destination(inst.dst, inst.row),
        a: codes[0],
        b: codes[1],
        c: codes[2],
        f: immediate as u32,
        ..blank(run)
    };
    if let Some(run) = BRANCHES.get(name) {
        let target = next.wrapping_add_signed(4 * i64::from(inst.imm));
        let local = target.wrapping_sub(place.chunk) / 4;
        let inside = target >= place.chunk && local < place.slots;
        return Some(Op {
            a: if inside { local as u16 } else { FAR },
            ..filled(*run, target)
        });
    }
    if let Some(run) = JUMPS.get(name) {
        return Some(filled(*run, next));
    }
    let run = *SCALARS.get(name)?;
    Some(filled(run, literal.unwrap_or(0)))
}

fn scalar_memory(inst: &Inst, _place: Place) -> Option<Op> {
    let (run, e) = smem::handler(inst.row.name, inst.mods.glc)?;
    let (codes, _) = sources(inst);
    Some(Op {
        x: i64::from(inst.imm) as u64,
        d: destination(inst.dst, inst.row),
        a: codes[0],
        b: address(inst.src[1], inst.row, 1),
        c: codes[2],
        e,
        ..blank(run)
    })
}

fn vector(inst: &Inst, place: Place) -> Option<Op> {
    let name = inst.row.name;
    let (codes, literal) = sources(inst);
    let packed = inst.row.family == Family::Vop3p;
    let ext = if packed {
        Ext::packed(
            &inst.mods,
            inst.src.iter().filter(|source| **source != Operand::None).count(),
        )
    } else {
        Ext::new(&inst.mods)
    };
    let shaped = if ext.is_none() { 0 } else { SHAPED };
    let mut op = Op {
        x: literal.unwrap_or(ext.0),
        d: destination(inst.dst, inst.row),
        a: codes[0],
        b: codes[1],
        c: codes[2],
        e: flag::VALU | shaped,
        ..blank(control::illegal)
    };
    if let Some(versions) = ACROSS_LANES.get(name) {
        op.run = version(*versions, place.level);
        if packed {
            op.x = vop3p::payload(&inst.mods);
        }
        if NOT_INDEXED.contains(&name) {
            op.e &= !flag::VALU;
        }
        return Some(op);
    }
    if let Some((versions, e)) = mfma::handler(name) {
        return Some(Op {
            x: mfma::payload(&inst.mods),
            e,
            run: version(versions, place.level),
            ..op
        });
    }
    let entry = LANE_BY_LANE.get(compare_name(name).as_str())?;
    let forms = &entry.forms;
    let mask_slot = |operand| written(operand, inst.row.sdst.ty);
    match forms.shape {
        Shape::Lane => {}
        Shape::Test => {
            op.d = mask_slot(inst.sdst);
            if name.starts_with("v_cmpx_") {
                op.e |= flag::WRITES_EXEC;
            }
        }
        Shape::Carry => op.f = mask_slot(inst.sdst).into(),
    }
    if name == "v_cvt_pkaccum_u8_f32" {
        // It accumulates into its destination.
        op.c = op.d;
    }
    if KEEP_HALF.contains(&name) {
        op.e |= flag::KEEP_HALF;
    }
    let scalars = [op.a, op.b, op.c]
        .into_iter()
        .enumerate()
        .take(if forms.mask_in { 2 } else { 3 });
    let which = scalars
        .filter(|(_, code)| is_scalar(*code))
        .fold(0, |bits, (i, _)| bits | 1 << i);
    let fast = forms.fast[which].filter(|_| ext.is_none() && op.e & flag::KEEP_HALF == 0);
    let signed = forms.signed.filter(|_| !ext.is_none() && ext.is_signs());
    op.run = version(fast.or(signed).unwrap_or(forms.slow), place.level);
    Some(op)
}

/// What error correction of registers adds to the [`Layout`] of a load of half a register.
fn cleared(inst: &Inst, place: Place) -> u16 {
    let name = inst.row.name;
    let loads_half = name.contains("_d16") && !name.contains("_format") && inst.dst != Operand::None;
    if place.sram_ecc && loads_half {
        Layout::CLEARS
    } else {
        0
    }
}

fn data_share(inst: &Inst, place: Place) -> Option<Op> {
    let (versions, e) = match wave_sync::handler(inst.row.name) {
        Some(found) => found,
        // There is no global data share.
        None if inst.mods.gds => return None,
        None => ds::handler(inst.row.name)?,
    };
    let (codes, _) = sources(inst);
    Some(Op {
        x: u64::from(inst.imm as u32 & 0xffff),
        d: destination(inst.dst, inst.row),
        a: codes[0],
        b: codes[1],
        c: codes[2],
        e: e | cleared(inst, place),
        ..blank(version(versions, place.level))
    })
}

fn by_address(inst: &Inst, place: Place) -> Option<Op> {
    let name = inst.row.name;
    let returns = inst.dst != Operand::None;
    let (versions, e) = match flat::handler(name) {
        Some((versions, layout)) => (versions, layout.0),
        None => flat_atomic::handler(name, returns)?,
    };
    if inst.mods.lds {
        return None;
    }
    let (codes, _) = sources(inst);
    Some(Op {
        x: i64::from(inst.imm) as u64,
        d: destination(inst.dst, inst.row),
        a: address(inst.src[0], inst.row, 0),
        b: codes[1],
        c: address(inst.src[2], inst.row, 2),
        e: e | cleared(inst, place),
        ..blank(version(versions, place.level))
    })
}

fn buffer(inst: &Inst, place: Place) -> Option<Op> {
    let returns = inst.dst != Operand::None;
    let (versions, e) = match format_access::handler(inst.row.name) {
        Some(found) => found,
        None => mubuf::handler(inst.row.name, returns)?,
    };
    if inst.mods.tfe {
        return None;
    }
    let (codes, _) = sources(inst);
    let mut x = u64::from(inst.imm as u32 & 0xfff);
    for (set, bit) in [
        (inst.mods.idxen, mubuf::bits::IDXEN),
        (inst.mods.offen, mubuf::bits::OFFEN),
        (inst.mods.lds, mubuf::bits::LDS),
    ] {
        if set {
            x |= bit;
        }
    }
    if inst.row.family == Family::Mtbuf {
        x |= mubuf::bits::TYPED | u64::from(inst.mods.dfmt & 15) << 20 | u64::from(inst.mods.nfmt & 7) << 24;
    }
    Some(Op {
        x,
        d: destination(inst.dst, inst.row),
        a: codes[0],
        b: codes[3],
        c: codes[2],
        e: e | cleared(inst, place),
        f: u32::from(codes[1] & 511),
        ..blank(version(versions, place.level))
    })
}

fn texture(inst: &Inst, place: Place) -> Option<Op> {
    let (versions, name) = image::handler(inst.row.name)?;
    let (codes, _) = sources(inst);
    Some(Op {
        x: image::payload(name, &inst.mods),
        d: destination(inst.dst, inst.row),
        a: codes[0],
        b: codes[3],
        c: codes[2],
        f: u32::from(codes[1] & 511),
        ..blank(version(versions, place.level))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::{rows_of, Target};

    #[test]
    fn every_table_row_names_an_instruction() {
        let known: Vec<&str> = Target::ALL
            .into_iter()
            .flat_map(rows_of)
            .map(|row| row.name)
            .collect();
        for name in LANE_BY_LANE
            .keys()
            .chain(ACROSS_LANES.keys())
            .chain(SCALARS.keys())
            .chain(BRANCHES.keys())
        {
            assert!(known.contains(name), "{name} is in no instruction table");
        }
    }
}
