//! The text of a function of LLVM IR.

use super::ty::Ty;
use std::collections::BTreeSet;
use std::fmt::{Display, Write};

/// A value with its type: a name of the function, or a constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Value {
    pub(super) text: String,
    pub(super) ty: Ty,
}

impl Value {
    /// A constant integer, in all lanes.
    pub(super) fn int(ty: Ty, value: impl Into<i128>) -> Self {
        Self {
            text: ty.splat(value.into()),
            ty,
        }
    }

    /// A constant floating-point number by the bits of a lane, in all lanes.
    pub(super) fn float(ty: Ty, bits: u64) -> Self {
        Self {
            text: ty.float_bits(bits),
            ty,
        }
    }

    /// As an argument of a call.
    pub(super) fn argument(&self) -> String {
        format!("{} {}", self.ty, self.text)
    }
}

impl Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

/// A pointer with its address space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pointer {
    pub(super) text: String,
    pub(super) space: u32,
}

impl Pointer {
    /// The type of pointers into an address space.
    pub(super) fn type_of(space: u32) -> String {
        match space {
            0 => "ptr".to_owned(),
            space => format!("ptr addrspace({space})"),
        }
    }

    /// The suffix of an intrinsic.
    pub(super) fn mangled(&self) -> String {
        format!("p{}", self.space)
    }
}

impl Display for Pointer {
    /// With its type, as it stands in instructions.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", Self::type_of(self.space), self.text)
    }
}

/// A function that is being written.
#[derive(Debug, Default)]
pub(super) struct Builder {
    /// What stands at the start: memory of the function.
    entry: String,
    body: String,
    next: u32,
    /// Whether the block has its end.
    is_ended: bool,
    /// Declarations of intrinsics that are called.
    pub(super) declarations: BTreeSet<String>,
    /// Names of functions of our own that are called.
    pub(super) helpers: BTreeSet<&'static str>,
}

impl Builder {
    fn number(&mut self) -> u32 {
        self.next += 1;
        self.next
    }

    /// Writes an instruction without a result. After the end of a block nothing can follow, and nothing does.
    pub(super) fn line(&mut self, text: impl Display) {
        if !self.is_ended {
            // Writing to a string does not fail.
            let _ = writeln!(self.body, "  {text}");
        }
    }

    /// Writes an instruction and names its result.
    pub(super) fn named(&mut self, text: impl Display) -> String {
        let name = format!("%v{}", self.number());
        self.line(format_args!("{name} = {text}"));
        name
    }

    /// Writes an instruction with a result.
    pub(super) fn value(&mut self, ty: Ty, text: impl Display) -> Value {
        Value {
            text: self.named(text),
            ty,
        }
    }

    /// Writes an instruction whose result is a pointer.
    pub(super) fn pointer(&mut self, space: u32, text: impl Display) -> Pointer {
        Pointer {
            text: self.named(text),
            space,
        }
    }

    /// Memory of the function, which every work-item has for itself. `ty` is a type of LLVM.
    pub(super) fn alloca(&mut self, ty: &str, align: u32) -> Pointer {
        let name = format!("%m{}", self.number());
        let _ = writeln!(self.entry, "  {name} = alloca {ty}, align {align}, addrspace(5)");
        Pointer { text: name, space: 5 }
    }

    /// An instruction at the start of the function, after the memory that exists by now.
    pub(super) fn at_entry(&mut self, text: impl Display) {
        let _ = writeln!(self.entry, "  {text}");
    }

    /// Ends the block.
    pub(super) fn end(&mut self, text: impl Display) {
        self.line(text);
        self.is_ended = true;
    }

    /// Starts a block; the one before runs into it.
    pub(super) fn block(&mut self, label: &str) {
        if !self.is_ended {
            self.line(format_args!("br label %{label}"));
        }
        let _ = writeln!(self.body, "{label}:");
        self.is_ended = false;
    }

    /// Whether nothing can follow until the next block starts.
    pub(super) fn is_ended(&self) -> bool {
        self.is_ended
    }

    /// A name for a block.
    pub(super) fn label(&mut self) -> String {
        format!("B{}", self.number())
    }

    /// The function's instructions, ended with a return if nothing else ends them.
    pub(super) fn finish(mut self, last: &str) -> (String, BTreeSet<String>, BTreeSet<&'static str>) {
        self.end(last);
        let text = format!("entry:\n{}  br label %start\nstart:\n{}", self.entry, self.body);
        (text, self.declarations, self.helpers)
    }

    /// `op a, b`.
    pub(super) fn binary(&mut self, op: &str, a: &Value, b: &Value) -> Value {
        let ty = a.ty;
        self.value(ty, format_args!("{op} {ty} {a}, {b}"))
    }

    /// An operation with a constant integer in all lanes.
    pub(super) fn with_constant(&mut self, op: &str, a: &Value, b: impl Into<i128>) -> Value {
        let b = Value::int(a.ty, b);
        self.binary(op, a, &b)
    }

    /// A conversion; none if it is of that type already.
    pub(super) fn cast(&mut self, op: &str, value: &Value, to: Ty) -> Value {
        if value.ty == to {
            return value.clone();
        }
        let from = value.ty;
        self.value(to, format_args!("{op} {from} {value} to {to}"))
    }

    /// The same bits as another type.
    pub(super) fn bitcast(&mut self, value: &Value, to: Ty) -> Value {
        self.cast("bitcast", value, to)
    }

    /// An integer cut or extended to a size.
    pub(super) fn resize(&mut self, value: &Value, to: Ty, signed: bool) -> Value {
        let op = match (to.lane_bits() < value.ty.lane_bits(), signed) {
            (true, _) => "trunc",
            (false, true) => "sext",
            (false, false) => "zext",
        };
        self.cast(op, value, to)
    }

    /// `icmp` or `fcmp`: `op` has the predicate.
    pub(super) fn compare(&mut self, op: &str, a: &Value, b: &Value) -> Value {
        let ty = a.ty;
        self.value(ty.with_int(1), format_args!("{op} {ty} {a}, {b}"))
    }

    /// A comparison with a constant integer.
    pub(super) fn compare_constant(&mut self, op: &str, a: &Value, b: impl Into<i128>) -> Value {
        let b = Value::int(a.ty, b);
        self.compare(op, a, &b)
    }

    /// One of two values, lane by lane if the condition has lanes.
    pub(super) fn select(&mut self, condition: &Value, a: &Value, b: &Value) -> Value {
        let (c, ty) = (condition.ty, a.ty);
        self.value(ty, format_args!("select {c} {condition}, {ty} {a}, {ty} {b}"))
    }

    /// Calls an intrinsic by its whole name.
    pub(super) fn call(&mut self, name: &str, ty: Ty, arguments: &[&Value]) -> Value {
        let text = self.call_text(
            name,
            &ty.to_string(),
            arguments.iter().map(|a| (a.ty.to_string(), a.text.clone())),
        );
        self.value(ty, text)
    }

    /// Calls an intrinsic that is named for its type, all arguments and the result being of that type.
    pub(super) fn overloaded(&mut self, name: &str, arguments: &[&Value]) -> Value {
        let ty = arguments.first().map_or(Ty::I32, |first| first.ty);
        self.call(&format!("{name}.{}", ty.mangled()), ty, arguments)
    }

    /// Declares a function with these arguments, each a type and a value, and gives the text of the call.
    pub(super) fn call_text(
        &mut self,
        name: &str,
        result: &str,
        arguments: impl Iterator<Item = (String, String)>,
    ) -> String {
        let (types, values): (Vec<_>, Vec<_>) = arguments
            .map(|(ty, text)| (ty.clone(), format!("{ty} {text}")))
            .unzip();
        self.declarations
            .insert(format!("declare {result} @{name}({})", types.join(", ")));
        format!("call {result} @{name}({})", values.join(", "))
    }

    /// A lane of a vector.
    pub(super) fn lane(&mut self, vector: &Value, index: u32) -> Value {
        if !vector.ty.is_vector() {
            return vector.clone();
        }
        let (ty, lane) = (vector.ty, vector.ty.lane());
        self.value(lane, format_args!("extractelement {ty} {vector}, i32 {index}"))
    }

    /// A vector with one lane replaced; `index` is an `i32`.
    pub(super) fn insert(&mut self, vector: &Value, lane: &Value, index: &str) -> Value {
        if !vector.ty.is_vector() {
            return lane.clone();
        }
        let (ty, scalar) = (vector.ty, lane.ty);
        self.value(
            ty,
            format_args!("insertelement {ty} {vector}, {scalar} {lane}, i32 {index}"),
        )
    }

    /// A scalar in every lane of a vector type.
    pub(super) fn splat(&mut self, lane: &Value, ty: Ty) -> Value {
        if !ty.is_vector() {
            return lane.clone();
        }
        let undefined = Value {
            text: "poison".to_owned(),
            ty,
        };
        let first = self.insert(&undefined, lane, "0");
        let lanes = ty.lanes;
        self.value(
            ty,
            format_args!("shufflevector {ty} {first}, {ty} poison, <{lanes} x i32> zeroinitializer"),
        )
    }

    /// A vector made lane by lane.
    pub(super) fn by_lane(&mut self, ty: Ty, mut lane: impl FnMut(&mut Self, u32) -> Value) -> Value {
        let mut all = Value {
            text: "poison".to_owned(),
            ty,
        };
        for index in 0..ty.lanes {
            let value = lane(self, index);
            all = self.insert(&all, &value, &index.to_string());
        }
        all
    }
}
