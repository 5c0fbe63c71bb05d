//! Images (PRM chapter 7).
//!
//! A handle is the address of a descriptor of the image extension: the words that texture hardware takes, then channel
//! type, channel order and width. A sampler's handle is the address of the four words that the hardware takes.

use super::builder::{Pointer, Value};
use super::error::{invalid, unsupported, Reason};
use super::function::Function;
use super::globals::space;
use super::ty::{Scalar, Ty};
use crate::brig::{Form, Geometry, ImageQuery, Instruction, Opcode, Operand, SamplerQuery, Type};

/// Words of a descriptor that have the same meaning on all chips.
mod word {
    pub(super) const CHANNEL_TYPE: u32 = 8;
    pub(super) const CHANNEL_ORDER: u32 = 9;
    pub(super) const WIDTH: u32 = 10;
}

/// How the hardware knows a geometry: its name in intrinsics, how many coordinates it has, whether the last of them is a
/// layer, and how many components an element has.
struct Shape {
    name: &'static str,
    coordinates: usize,
    is_array: bool,
    components: u32,
}

const fn shape(name: &'static str, coordinates: usize, is_array: bool, components: u32) -> Shape {
    Shape {
        name,
        coordinates,
        is_array,
        components,
    }
}

/// `None` for buffers, which are not textures to the hardware.
fn shape_of(geometry: Geometry) -> Result<Option<Shape>, Reason> {
    Ok(Some(match geometry {
        Geometry::D1 => shape("1d", 1, false, 4),
        Geometry::D2 => shape("2d", 2, false, 4),
        Geometry::D3 => shape("3d", 3, false, 4),
        Geometry::D1_ARRAY => shape("1darray", 2, true, 4),
        Geometry::D2_ARRAY => shape("2darray", 3, true, 4),
        Geometry::D2_DEPTH => shape("2d", 2, false, 1),
        Geometry::D2_ARRAY_DEPTH => shape("2darray", 3, true, 1),
        Geometry::D1_BUFFER => return Ok(None),
        _ => return invalid("HSAIL has no such geometry"),
    }))
}

/// Translates an operation on an image or a sampler.
pub(super) fn translate<'a>(f: &mut Function<'a>, i: &Instruction<'a>) -> Result<(), Reason> {
    if f.unit.target.isa.contains("--gfx94") {
        return unsupported("the chip has no texture hardware");
    }
    match i.form {
        Form::Image {
            coord_type, geometry, ..
        } => access(f, i, coord_type, geometry),
        Form::QueryImage { geometry, query, .. } => query_image(f, i, geometry, query),
        Form::QuerySampler { query } => query_sampler(f, i, query),
        _ => invalid("it names no image"),
    }
}

/// An argument of an intrinsic.
type Argument = (String, String);

fn argument(value: &Value) -> Argument {
    (value.ty.to_string(), value.text.clone())
}

fn number(value: u32) -> Argument {
    ("i32".to_owned(), value.to_string())
}

/// Words of the descriptor that a handle points to.
fn words<'a>(
    f: &mut Function<'a>,
    i: &Instruction<'a>,
    index: usize,
    ty: Type,
    count: u32,
) -> Result<Value, Reason> {
    let pointer = descriptor(f, i, index, ty)?;
    let vector = Ty {
        scalar: Scalar::Int(32),
        lanes: count,
    };
    Ok(f.b.value(vector, format_args!("load {vector}, {pointer}, align 4")))
}

fn descriptor<'a>(
    f: &mut Function<'a>,
    i: &Instruction<'a>,
    index: usize,
    ty: Type,
) -> Result<Pointer, Reason> {
    let handle = f.source_bits(i, index, ty)?;
    Ok(f.b.pointer(
        space::CONSTANT,
        format_args!("inttoptr {} to ptr addrspace(4)", handle.argument()),
    ))
}

fn image_type(i: &Instruction<'_>) -> Type {
    match i.form {
        Form::Image { image_type, .. } | Form::QueryImage { image_type, .. } => image_type,
        _ => Type::NONE,
    }
}

/// `rdimage`, `ldimage`, `stimage`.
fn access<'a>(
    f: &mut Function<'a>,
    i: &Instruction<'a>,
    coord_type: Type,
    geometry: Geometry,
) -> Result<(), Reason> {
    let samples = i.opcode == Opcode::RDIMAGE;
    if !matches!(i.ty, Type::U32 | Type::S32 | Type::F32 | Type::F16) || !image_type(i).is_image() {
        return invalid("it has another type than images have");
    }
    let shape = shape_of(geometry)?;
    let components = shape.as_ref().map_or(4, |shape| shape.components);
    let all = f.several(i, 0)?;
    if all.len() != components as usize {
        return invalid("it has another number of components than the geometry");
    }
    let coordinates = coordinates(f, i, if samples { 3 } else { 2 }, coord_type)?;
    let expected = shape.as_ref().map_or(1, |shape| shape.coordinates);
    if coordinates.len() != expected {
        return invalid("it has another number of coordinates than the geometry");
    }
    let data = Ty {
        lanes: components,
        ..Ty::FLOAT
    };
    match (i.opcode, shape) {
        (Opcode::STIMAGE, shape) => store(f, i, shape.as_ref(), &coordinates, data, all),
        (Opcode::LDIMAGE, shape) => {
            let value = load(f, i, shape.as_ref(), &coordinates, data)?;
            result(f, i, &value)
        }
        (_, Some(shape)) => {
            let value = sample(f, i, &shape, &coordinates, data)?;
            result(f, i, &value)
        }
        (_, None) => invalid("buffers are not sampled"),
    }
}

fn coordinates<'a>(
    f: &mut Function<'a>,
    i: &Instruction<'a>,
    index: usize,
    ty: Type,
) -> Result<Vec<Value>, Reason> {
    let fits = match i.opcode {
        Opcode::RDIMAGE => matches!(ty, Type::S32 | Type::F32),
        _ => matches!(ty, Type::U32 | Type::S32),
    };
    if !fits {
        return invalid("its coordinates have another type than they can have");
    }
    let mut all = Vec::new();
    for operand in f.several(i, index)? {
        all.push(f.read(operand, ty)?);
    }
    Ok(all)
}

/// Writes the components, whose bits are what the format makes of an element.
fn result<'a>(f: &mut Function<'a>, i: &Instruction<'a>, value: &Value) -> Result<(), Reason> {
    for (lane, register) in (0..).zip(f.registers(i, 0)?) {
        let component = f.b.lane(value, lane);
        let component = if i.ty == Type::F16 {
            f.b.cast("fptrunc", &component, Ty::HALF)
        } else {
            component
        };
        f.write_register(register, i.ty, &component)?;
    }
    Ok(())
}

/// The components that are read or written, as a mask.
fn mask(data: Ty) -> Argument {
    number((1 << data.lanes) - 1)
}

fn load<'a>(
    f: &mut Function<'a>,
    i: &Instruction<'a>,
    shape: Option<&Shape>,
    coordinates: &[Value],
    data: Ty,
) -> Result<Value, Reason> {
    let ty = image_type(i);
    let (name, arguments) = match shape {
        Some(shape) => {
            let image = words(f, i, 1, ty, 8)?;
            let name = format!("llvm.amdgcn.image.load.{}.{}.i32", shape.name, data.mangled());
            let mut arguments = vec![mask(data)];
            arguments.extend(coordinates.iter().map(argument));
            arguments.extend([argument(&image), number(0), number(0)]);
            (name, arguments)
        }
        None => {
            let buffer = words(f, i, 1, ty, 4)?;
            let name = format!("llvm.amdgcn.struct.buffer.load.format.{}", data.mangled());
            let index = argument(&coordinates[0]);
            (
                name,
                vec![argument(&buffer), index, number(0), number(0), number(0)],
            )
        }
    };
    let text = f.b.call_text(&name, &data.to_string(), arguments.into_iter());
    Ok(f.b.value(data, text))
}

fn store<'a>(
    f: &mut Function<'a>,
    i: &Instruction<'a>,
    shape: Option<&Shape>,
    coordinates: &[Value],
    data: Ty,
    components: Vec<Operand<'a>>,
) -> Result<(), Reason> {
    let mut lanes = Vec::new();
    for component in components {
        let value = f.read(component, i.ty)?;
        let op = if i.ty == Type::F16 { "fpext" } else { "bitcast" };
        lanes.push(f.b.cast(op, &value, Ty::FLOAT));
    }
    let value = f.b.by_lane(data, |_, lane| lanes[lane as usize].clone());
    let ty = image_type(i);
    let (name, arguments) = match shape {
        Some(shape) => {
            let image = words(f, i, 1, ty, 8)?;
            let name = format!("llvm.amdgcn.image.store.{}.{}.i32", shape.name, data.mangled());
            let mut arguments = vec![argument(&value), mask(data)];
            arguments.extend(coordinates.iter().map(argument));
            arguments.extend([argument(&image), number(0), number(0)]);
            (name, arguments)
        }
        None => {
            let buffer = words(f, i, 1, ty, 4)?;
            let name = format!("llvm.amdgcn.struct.buffer.store.format.{}", data.mangled());
            let index = argument(&coordinates[0]);
            let arguments = vec![
                argument(&value),
                argument(&buffer),
                index,
                number(0),
                number(0),
                number(0),
            ];
            (name, arguments)
        }
    };
    let text = f.b.call_text(&name, "void", arguments.into_iter());
    f.b.line(text);
    Ok(())
}

/// Sampling at the only level of detail. Layers are rounded to the nearest one.
fn sample<'a>(
    f: &mut Function<'a>,
    i: &Instruction<'a>,
    shape: &Shape,
    coordinates: &[Value],
    data: Ty,
) -> Result<Value, Reason> {
    let mut all = Vec::new();
    for (index, coordinate) in coordinates.iter().enumerate() {
        let value = f.b.cast(
            if coordinate.ty == Ty::I32 {
                "sitofp"
            } else {
                "fpext"
            },
            coordinate,
            Ty::FLOAT,
        );
        let is_layer = shape.is_array && index + 1 == coordinates.len();
        all.push(if is_layer {
            f.b.overloaded("llvm.rint", &[&value])
        } else {
            value
        });
    }
    let image = words(f, i, 1, image_type(i), 8)?;
    let sampler = words(f, i, 2, Type::SAMPLER, 4)?;
    // MI200 only has the form that chooses a level; there is only one.
    let form = if f.unit.target.isa.contains("--gfx90a") {
        "sample"
    } else {
        "sample.lz"
    };
    let name = format!("llvm.amdgcn.image.{form}.{}.{}.f32", shape.name, data.mangled());
    let mut arguments = vec![mask(data)];
    arguments.extend(all.iter().map(argument));
    arguments.extend([argument(&image), argument(&sampler)]);
    arguments.extend([("i1".to_owned(), "false".to_owned()), number(0), number(0)]);
    let text = f.b.call_text(&name, &data.to_string(), arguments.into_iter());
    Ok(f.b.value(data, text))
}

/// A field of a word.
fn field(f: &mut Function<'_>, descriptor: &Pointer, word: u32, first: u32, bits: u32) -> Value {
    let offset = 4 * word;
    let place = f.b.pointer(
        descriptor.space,
        format_args!("getelementptr i8, {descriptor}, i64 {offset}"),
    );
    let value = f.b.value(Ty::I32, format_args!("load i32, {place}, align 4"));
    if bits == 32 {
        return value;
    }
    let value = f.b.with_constant("lshr", &value, first);
    f.b.with_constant("and", &value, (1u32 << bits) - 1)
}

/// `queryimage`. Sizes other than the width are where GFX9 has them.
fn query_image<'a>(
    f: &mut Function<'a>,
    i: &Instruction<'a>,
    geometry: Geometry,
    query: ImageQuery,
) -> Result<(), Reason> {
    let has_rows = !matches!(geometry, Geometry::D1 | Geometry::D1_ARRAY | Geometry::D1_BUFFER);
    let is_array = shape_of(geometry)?.is_some_and(|shape| shape.is_array);
    if !image_type(i).is_image() {
        return invalid("its source is no image");
    }
    let descriptor = descriptor(f, i, 1, image_type(i))?;
    let less_one = |f: &mut Function<'a>, word, first, bits| {
        if !f.unit.is_gfx9() {
            return unsupported("sizes of images are only known on GFX9");
        }
        let value = field(f, &descriptor, word, first, bits);
        Ok(f.b.with_constant("add", &value, 1))
    };
    let value = match query {
        ImageQuery::WIDTH => field(f, &descriptor, word::WIDTH, 0, 32),
        ImageQuery::CHANNEL_ORDER => field(f, &descriptor, word::CHANNEL_ORDER, 0, 32),
        ImageQuery::CHANNEL_TYPE => field(f, &descriptor, word::CHANNEL_TYPE, 0, 32),
        ImageQuery::HEIGHT if has_rows => less_one(f, 2, 14, 14)?,
        ImageQuery::DEPTH if geometry == Geometry::D3 => less_one(f, 4, 0, 13)?,
        ImageQuery::ARRAY if is_array => less_one(f, 4, 0, 13)?,
        _ => return invalid("its geometry has no such property"),
    };
    f.write(i, i.ty, &value)
}

/// `querysampler`: what the hardware's numbers of clamps, filters and coordinates are in HSAIL.
fn query_sampler<'a>(f: &mut Function<'a>, i: &Instruction<'a>, query: SamplerQuery) -> Result<(), Reason> {
    let descriptor = descriptor(f, i, 1, Type::SAMPLER)?;
    let value = match query {
        SamplerQuery::ADDRESSING => {
            // By four bits for each clamp: repeat, mirrored repeat, edge, and border as the seventh.
            const BY_CLAMP: u32 = 3 | 4 << 4 | 1 << 8 | 2 << 24;
            let clamp = field(f, &descriptor, 0, 0, 3);
            let bits = f.b.with_constant("shl", &clamp, 2);
            let table = Value::int(Ty::I32, BY_CLAMP);
            let value = f.b.binary("lshr", &table, &bits);
            f.b.with_constant("and", &value, 15)
        }
        SamplerQuery::COORDINATES => {
            let elements = field(f, &descriptor, 0, 15, 1);
            f.b.with_constant("xor", &elements, 1)
        }
        SamplerQuery::FILTER => field(f, &descriptor, 2, 20, 1),
        _ => return invalid("samplers have no such property"),
    };
    f.write(i, i.ty, &value)
}
