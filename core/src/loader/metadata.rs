//! The metadata note: what the compiler knows about kernels beyond their descriptors.
//!
//! From version 3 on it is one msgpack map (LLVM's AMDGPU usage document, "Code Object Metadata").
//! Loading and launching need none of it; argument layouts, names and register counts are for tools
//! and for people. Keys that are not known are skipped, since newer compilers add some.

use rmpv::ValueRef;

use super::error::{broken, LoadError};
use super::note::Note;

/// Deeper nesting than the format has is refused, which bounds the parser's stack.
const MAX_DEPTH: usize = 32;

/// The metadata of a code object.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Metadata {
    /// Version of the metadata: 1.0 for code object version 3, 1.1 for 4, 1.2 for 5 and 6.
    pub version: Vec<u64>,
    /// The ISA's name.
    pub target: Option<String>,
    /// Encoded `printf` formats.
    pub printf: Vec<String>,
    /// The kernels.
    pub kernels: Vec<KernelMetadata>,
}

/// What the compiler says about a kernel.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KernelMetadata {
    /// Name in the source.
    pub name: String,
    /// Name of the descriptor symbol.
    pub symbol: String,
    /// Source language.
    pub language: Option<String>,
    /// Version of the language.
    pub language_version: Vec<u64>,
    /// What it is for: `normal`, `init` or `fini`.
    pub kind: Option<String>,
    /// Explicit and hidden arguments.
    pub args: Vec<ArgMetadata>,
    /// Work-group size the source demands.
    pub required_workgroup_size: Vec<u64>,
    /// Bytes of the argument segment.
    pub kernarg_segment_size: Option<u64>,
    /// Alignment of the argument segment.
    pub kernarg_segment_align: Option<u64>,
    /// Bytes of group memory.
    pub group_segment_fixed_size: Option<u64>,
    /// Bytes of private memory per work-item.
    pub private_segment_fixed_size: Option<u64>,
    /// Lanes of a wavefront.
    pub wavefront_size: Option<u64>,
    /// Scalar registers.
    pub sgpr_count: Option<u64>,
    /// Vector registers.
    pub vgpr_count: Option<u64>,
    /// Accumulation registers.
    pub agpr_count: Option<u64>,
    /// Spilled scalar registers.
    pub sgpr_spill_count: Option<u64>,
    /// Spilled vector registers.
    pub vgpr_spill_count: Option<u64>,
    /// Most work-items of a work-group.
    pub max_flat_workgroup_size: Option<u64>,
    /// Whether the stack's size is not known.
    pub uses_dynamic_stack: Option<bool>,
}

/// What the compiler says about a kernel argument.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ArgMetadata {
    /// Name in the source.
    pub name: Option<String>,
    /// Type in the source.
    pub type_name: Option<String>,
    /// Bytes.
    pub size: u64,
    /// Place in the argument segment.
    pub offset: u64,
    /// How the value is passed, such as `by_value`, `global_buffer` or `hidden_none`.
    pub value_kind: String,
    /// Address space of a pointer.
    pub address_space: Option<String>,
    /// Access qualifier of an image or pipe.
    pub access: Option<String>,
    /// Alignment of what a pointer to group memory points to.
    pub pointee_align: Option<u64>,
    /// Whether the pointee is `const`.
    pub is_const: bool,
    /// Whether the pointer is `restrict`.
    pub is_restrict: bool,
    /// Whether the pointee is `volatile`.
    pub is_volatile: bool,
}

impl Metadata {
    /// Parses a metadata note.
    pub(super) fn parse(note: &Note<'_>) -> Result<Self, LoadError> {
        let mut bytes = note.contents;
        let value = rmpv::decode::read_value_ref_with_max_depth(&mut bytes, MAX_DEPTH)
            .map_err(|_| broken("the metadata note is not valid msgpack", note.offset))?;
        metadata(&value).map_err(|reason| broken(reason, note.offset))
    }
}

type Parsed<T> = Result<T, &'static str>;

fn metadata(value: &ValueRef<'_>) -> Parsed<Metadata> {
    let mut out = Metadata::default();
    for (key, value) in entries(value)? {
        match key {
            "amdhsa.version" => out.version = numbers(value)?,
            "amdhsa.target" => out.target = Some(text(value)?),
            "amdhsa.printf" => out.printf = list(value)?.iter().map(text).collect::<Parsed<_>>()?,
            "amdhsa.kernels" => {
                out.kernels = list(value)?.iter().map(kernel).collect::<Parsed<_>>()?;
            }
            _ => {}
        }
    }
    Ok(out)
}

fn kernel(value: &ValueRef<'_>) -> Parsed<KernelMetadata> {
    let mut out = KernelMetadata::default();
    for (key, value) in entries(value)? {
        match key {
            ".name" => out.name = text(value)?,
            ".symbol" => out.symbol = text(value)?,
            ".language" => out.language = Some(text(value)?),
            ".language_version" => out.language_version = numbers(value)?,
            ".kind" => out.kind = Some(text(value)?),
            ".args" => out.args = list(value)?.iter().map(argument).collect::<Parsed<_>>()?,
            ".reqd_workgroup_size" => out.required_workgroup_size = numbers(value)?,
            ".kernarg_segment_size" => out.kernarg_segment_size = Some(number(value)?),
            ".kernarg_segment_align" => out.kernarg_segment_align = Some(number(value)?),
            ".group_segment_fixed_size" => out.group_segment_fixed_size = Some(number(value)?),
            ".private_segment_fixed_size" => out.private_segment_fixed_size = Some(number(value)?),
            ".wavefront_size" => out.wavefront_size = Some(number(value)?),
            ".sgpr_count" => out.sgpr_count = Some(number(value)?),
            ".vgpr_count" => out.vgpr_count = Some(number(value)?),
            ".agpr_count" => out.agpr_count = Some(number(value)?),
            ".sgpr_spill_count" => out.sgpr_spill_count = Some(number(value)?),
            ".vgpr_spill_count" => out.vgpr_spill_count = Some(number(value)?),
            ".max_flat_workgroup_size" => out.max_flat_workgroup_size = Some(number(value)?),
            ".uses_dynamic_stack" => out.uses_dynamic_stack = Some(flag(value)?),
            _ => {}
        }
    }
    Ok(out)
}

fn argument(value: &ValueRef<'_>) -> Parsed<ArgMetadata> {
    let mut out = ArgMetadata::default();
    for (key, value) in entries(value)? {
        match key {
            ".name" => out.name = Some(text(value)?),
            ".type_name" => out.type_name = Some(text(value)?),
            ".size" => out.size = number(value)?,
            ".offset" => out.offset = number(value)?,
            ".value_kind" => out.value_kind = text(value)?,
            ".address_space" => out.address_space = Some(text(value)?),
            ".access" => out.access = Some(text(value)?),
            ".pointee_align" => out.pointee_align = Some(number(value)?),
            ".is_const" => out.is_const = flag(value)?,
            ".is_restrict" => out.is_restrict = flag(value)?,
            ".is_volatile" => out.is_volatile = flag(value)?,
            _ => {}
        }
    }
    Ok(out)
}

fn entries<'a, 'data>(
    value: &'a ValueRef<'data>,
) -> Parsed<impl Iterator<Item = (&'data str, &'a ValueRef<'data>)>> {
    let ValueRef::Map(entries) = value else {
        return Err("metadata: a map was expected");
    };
    Ok(entries.iter().filter_map(|(key, value)| match key {
        ValueRef::String(key) => Some((key.into_str()?, value)),
        _ => None,
    }))
}

fn list<'a, 'data>(value: &'a ValueRef<'data>) -> Parsed<&'a [ValueRef<'data>]> {
    match value {
        ValueRef::Array(values) => Ok(values),
        _ => Err("metadata: a list was expected"),
    }
}

fn text(value: &ValueRef<'_>) -> Parsed<String> {
    match value {
        ValueRef::String(text) => text.into_string().ok_or("metadata: a string is not UTF-8"),
        _ => Err("metadata: a string was expected"),
    }
}

fn number(value: &ValueRef<'_>) -> Parsed<u64> {
    value.as_u64().ok_or("metadata: a number was expected")
}

fn numbers(value: &ValueRef<'_>) -> Parsed<Vec<u64>> {
    list(value)?.iter().map(number).collect()
}

fn flag(value: &ValueRef<'_>) -> Parsed<bool> {
    match value {
        ValueRef::Boolean(flag) => Ok(*flag),
        _ => Err("metadata: a boolean was expected"),
    }
}
