//! Queries about the dispatch (PRM 11.1): from its packet, and from the identifiers that hardware gives to work-items.

use super::builder::{Pointer, Value};
use super::error::{invalid, Reason};
use super::function::Function;
use super::globals::space;
use super::operand::constant;
use super::ty::Ty;
use crate::brig::{Instruction, Opcode, Type};

/// Members of a dispatch packet (HSA System Architecture, 2.9.6), in bytes from its start.
mod packet {
    pub(super) const SETUP: u32 = 2;
    pub(super) const WORKGROUP_SIZE: u32 = 4;
    pub(super) const GRID_SIZE: u32 = 12;
    pub(super) const COMPLETION_SIGNAL: u32 = 56;
}

/// Names of the dimensions.
const DIMENSIONS: [&str; 3] = ["x", "y", "z"];

/// Whether an operation asks about the dispatch.
pub(super) fn is_query(opcode: Opcode) -> bool {
    use Opcode as Op;
    matches!(
        opcode,
        Op::CURRENTWORKGROUPSIZE
            | Op::CURRENTWORKITEMFLATID
            | Op::DIM
            | Op::GRIDGROUPS
            | Op::GRIDSIZE
            | Op::PACKETCOMPLETIONSIG
            | Op::PACKETID
            | Op::WORKGROUPID
            | Op::WORKGROUPSIZE
            | Op::WORKITEMABSID
            | Op::WORKITEMFLATABSID
            | Op::WORKITEMFLATID
            | Op::WORKITEMID
    )
}

/// Translates a query.
pub(super) fn translate<'a>(f: &mut Function<'a>, i: &Instruction<'a>) -> Result<(), Reason> {
    use Opcode as Op;
    let to = match (i.opcode, i.ty) {
        (_, Type::U32) => Ty::I32,
        (Op::PACKETCOMPLETIONSIG, Type::SIG64) => Ty::I64,
        (Op::GRIDSIZE | Op::WORKITEMABSID | Op::WORKITEMFLATABSID | Op::PACKETID, Type::U64) => Ty::I64,
        _ => return invalid("it has another type than it can have"),
    };
    let value = match i.opcode {
        Op::CURRENTWORKGROUPSIZE => current_size(f, dimension(i)?),
        Op::CURRENTWORKITEMFLATID => flat_id(f, current_size),
        Op::DIM => {
            let setup = packet_member(f, packet::SETUP, Ty::I16);
            let dimensions = f.b.with_constant("and", &setup, 3);
            f.b.resize(&dimensions, Ty::I32, false)
        }
        Op::GRIDGROUPS => grid_groups(f, dimension(i)?),
        Op::GRIDSIZE => grid_size(f, dimension(i)?),
        Op::PACKETCOMPLETIONSIG => packet_member(f, packet::COMPLETION_SIGNAL, Ty::I64),
        Op::PACKETID => f.b.call("llvm.amdgcn.dispatch.id", Ty::I64, &[]),
        Op::WORKGROUPID => workgroup_id(f, dimension(i)?),
        Op::WORKGROUPSIZE => workgroup_size(f, dimension(i)?),
        Op::WORKITEMABSID => absolute_id(f, dimension(i)?),
        Op::WORKITEMFLATABSID => flat_absolute_id(f),
        Op::WORKITEMFLATID => flat_id(f, workgroup_size),
        _ => workitem_id(f, dimension(i)?),
    };
    let value = f.b.resize(&value, to, false);
    f.write(i, i.ty, &value)
}

fn dimension(i: &Instruction<'_>) -> Result<u32, Reason> {
    match u32::try_from(constant(i, 1)?) {
        Ok(number @ 0..=2) => Ok(number),
        _ => invalid("its dimension is none of 0, 1, 2"),
    }
}

/// A member of the packet.
pub(super) fn packet_member(f: &mut Function<'_>, offset: u32, ty: Ty) -> Value {
    let text = f.b.call_text(
        "llvm.amdgcn.dispatch.ptr",
        &Pointer::type_of(space::CONSTANT),
        std::iter::empty(),
    );
    let packet = f.b.pointer(space::CONSTANT, text);
    let member = f.b.pointer(
        space::CONSTANT,
        format_args!("getelementptr i8, {packet}, i64 {offset}"),
    );
    let align = ty.bits() / 8;
    f.b.value(
        ty,
        format_args!("load {ty}, {member}, align {align}, !invariant.load !0"),
    )
}

fn workgroup_size(f: &mut Function<'_>, dimension: u32) -> Value {
    let size = packet_member(f, packet::WORKGROUP_SIZE + 2 * dimension, Ty::I16);
    f.b.resize(&size, Ty::I32, false)
}

fn grid_size(f: &mut Function<'_>, dimension: u32) -> Value {
    packet_member(f, packet::GRID_SIZE + 4 * dimension, Ty::I32)
}

fn workgroup_id(f: &mut Function<'_>, dimension: u32) -> Value {
    let name = DIMENSIONS[dimension as usize];
    f.b.call(&format!("llvm.amdgcn.workgroup.id.{name}"), Ty::I32, &[])
}

fn workitem_id(f: &mut Function<'_>, dimension: u32) -> Value {
    let name = DIMENSIONS[dimension as usize];
    f.b.call(&format!("llvm.amdgcn.workitem.id.{name}"), Ty::I32, &[])
}

/// The grid's size divided by the work-group's, rounded up; without overflow for the largest grids.
fn grid_groups(f: &mut Function<'_>, dimension: u32) -> Value {
    let (grid, group) = (grid_size(f, dimension), workgroup_size(f, dimension));
    let [grid, group] = [grid, group].map(|value| f.b.resize(&value, Ty::I64, false));
    let less = f.b.with_constant("add", &group, -1);
    let sum = f.b.binary("add", &grid, &less);
    let groups = f.b.binary("udiv", &sum, &group);
    f.b.resize(&groups, Ty::I32, false)
}

/// The last work-group of a dimension may be smaller.
fn current_size(f: &mut Function<'_>, dimension: u32) -> Value {
    let (id, size, grid) = (
        workgroup_id(f, dimension),
        workgroup_size(f, dimension),
        grid_size(f, dimension),
    );
    let before = f.b.binary("mul", &id, &size);
    let left = f.b.binary("sub", &grid, &before);
    f.b.overloaded("llvm.umin", &[&size, &left])
}

/// The identifier in the grid, 64 bits.
fn absolute_id(f: &mut Function<'_>, dimension: u32) -> Value {
    let (group, size, item) = (
        workgroup_id(f, dimension),
        workgroup_size(f, dimension),
        workitem_id(f, dimension),
    );
    let [group, size, item] = [group, size, item].map(|value| f.b.resize(&value, Ty::I64, false));
    let before = f.b.binary("mul", &group, &size);
    f.b.binary("add", &before, &item)
}

/// `x + X * (y + Y * z)`, with the sizes `X` and `Y` of work-groups.
fn flat_id<'a>(f: &mut Function<'a>, size: fn(&mut Function<'a>, u32) -> Value) -> Value {
    let ids = [0, 1, 2].map(|dimension| workitem_id(f, dimension));
    let sizes = [0, 1].map(|dimension| size(f, dimension));
    flatten(f, &ids, &sizes)
}

fn flat_absolute_id(f: &mut Function<'_>) -> Value {
    let ids = [0, 1, 2].map(|dimension| absolute_id(f, dimension));
    let sizes = [0, 1].map(|dimension| grid_size(f, dimension));
    let sizes = sizes.map(|size| f.b.resize(&size, Ty::I64, false));
    flatten(f, &ids, &sizes)
}

fn flatten(f: &mut Function<'_>, [x, y, z]: &[Value; 3], [width, height]: &[Value; 2]) -> Value {
    let rows = f.b.binary("mul", z, height);
    let rows = f.b.binary("add", &rows, y);
    let items = f.b.binary("mul", &rows, width);
    f.b.binary("add", &items, x)
}
