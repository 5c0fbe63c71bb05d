//! Values of operands, and addresses (PRM 4.16 to 4.18, 6.1.1).

use super::builder::{Pointer, Value};
use super::error::{invalid, Reason};
use super::function::Function;
use super::globals::space;
use super::ty::Ty;
use crate::brig::{Address, Constant, Instruction, Operand, Register, RegisterKind, Segment, Type};

/// The address space of a segment, and the size of addresses in it (PRM, table 2-3, large model).
pub(super) fn space_of(segment: Segment) -> Result<(u32, Ty), Reason> {
    Ok(match segment {
        Segment::FLAT => (space::FLAT, Ty::I64),
        Segment::GLOBAL => (space::GLOBAL, Ty::I64),
        Segment::READONLY | Segment::KERNARG => (space::CONSTANT, Ty::I64),
        Segment::GROUP => (space::GROUP, Ty::I32),
        Segment::PRIVATE | Segment::SPILL | Segment::ARG => (space::PRIVATE, Ty::I32),
        _ => return invalid("it names no segment"),
    })
}

/// The type that operations on a type work on.
pub(super) fn ty_of(ty: Type) -> Result<Ty, Reason> {
    match Ty::of(ty) {
        Some(ir) if ty.is_valid() && !ty.is_array() => Ok(ir),
        _ => invalid("its type is none of HSAIL's"),
    }
}

/// Whether a value of a type is extended with its sign in a register that is larger.
fn is_signed(ty: Type) -> bool {
    ty.is_signed() && ty.packed_bits().is_none()
}

impl<'a> Function<'a> {
    /// A source operand of a type.
    pub(super) fn source(&mut self, i: &Instruction<'a>, index: usize, ty: Type) -> Result<Value, Reason> {
        match i.operand(index) {
            Some(operand) => self.read(operand, ty),
            None => invalid(format!("operand {index} is missing")),
        }
    }

    /// A source operand as an integer of the size of a type.
    pub(super) fn source_bits(
        &mut self,
        i: &Instruction<'a>,
        index: usize,
        ty: Type,
    ) -> Result<Value, Reason> {
        let value = self.source(i, index, ty)?;
        Ok(self.b.bitcast(&value, Ty::int(value.ty.bits())))
    }

    /// An operand's value of a type.
    pub(super) fn read(&mut self, operand: Operand<'a>, ty: Type) -> Result<Value, Reason> {
        let to = ty_of(ty)?;
        let whole = Ty::int(to.bits());
        let bits = match operand {
            Operand::Register(register) => self.read_register(register, whole)?,
            Operand::Constant(constant) => Value {
                text: immediate(constant, whole),
                ty: whole,
            },
            Operand::Wavesize => Value::int(whole, self.unit.target.wavefront),
            _ => return invalid("a source is neither a register nor a constant"),
        };
        Ok(self.b.bitcast(&bits, to))
    }

    fn read_register(&mut self, register: Register, to: Ty) -> Result<Value, Reason> {
        let (place, ty) = self.register(register)?;
        let value = self.b.value(ty, format_args!("load {ty}, {place}"));
        if to == ty {
            return Ok(value);
        }
        // Only s registers hold smaller values.
        if register.kind != RegisterKind::SINGLE || to.bits() > ty.bits() || to == Ty::I1 {
            return invalid("a register has another size than its operand");
        }
        Ok(self.b.cast("trunc", &value, to))
    }

    /// The register that the first operand names, with its memory.
    pub(super) fn destination(&mut self, i: &Instruction<'a>) -> Result<Register, Reason> {
        match i.operand(0) {
            Some(Operand::Register(register)) => Ok(register),
            _ => invalid("its destination is no register"),
        }
    }

    /// Writes the first operand.
    pub(super) fn write(&mut self, i: &Instruction<'a>, ty: Type, value: &Value) -> Result<(), Reason> {
        let register = self.destination(i)?;
        self.write_register(register, ty, value)
    }

    /// Writes a register with a value of a type; smaller integers are extended (PRM 4.16.2).
    pub(super) fn write_register(
        &mut self,
        register: Register,
        ty: Type,
        value: &Value,
    ) -> Result<(), Reason> {
        let (place, whole) = self.register(register)?;
        let bits = self.b.bitcast(value, Ty::int(value.ty.bits()));
        let fits = bits.ty == whole
            || register.kind == RegisterKind::SINGLE && bits.ty.bits() < whole.bits() && bits.ty != Ty::I1;
        if !fits {
            return invalid("its destination is a register of another size");
        }
        let bits = self.b.resize(&bits, whole, is_signed(ty));
        self.b.line(format_args!("store {}, {place}", bits.argument()));
        Ok(())
    }

    /// The operands of a list, or the one operand.
    pub(super) fn several(&self, i: &Instruction<'a>, index: usize) -> Result<Vec<Operand<'a>>, Reason> {
        match i.operand(index) {
            Some(Operand::List(list)) => Ok(list.operands().collect()),
            Some(operand) => Ok(vec![operand]),
            None => invalid(format!("operand {index} is missing")),
        }
    }

    /// The registers of a list, or the one register.
    pub(super) fn registers(&self, i: &Instruction<'a>, index: usize) -> Result<Vec<Register>, Reason> {
        let one = |operand| match operand {
            Operand::Register(register) => Ok(register),
            _ => invalid("a destination is no register"),
        };
        self.several(i, index)?.into_iter().map(one).collect()
    }

    /// The address that an operand is.
    pub(super) fn address(&self, i: &Instruction<'a>, index: usize) -> Result<Address, Reason> {
        match i.operand(index) {
            Some(Operand::Address(address)) => Ok(address),
            _ => invalid(format!("operand {index} is no address")),
        }
    }

    /// Where an address in a segment points.
    pub(super) fn pointer(&mut self, address: &Address, segment: Segment) -> Result<Pointer, Reason> {
        let (space, ty) = space_of(segment)?;
        let rest = self.offset(address, ty)?;
        let Some(at) = address.symbol else {
            let rest = rest.unwrap_or_else(|| Value::int(ty, 0));
            let to = Pointer::type_of(space);
            return Ok(self
                .b
                .pointer(space, format_args!("inttoptr {} to {to}", rest.argument())));
        };
        let (base, home) = self.variable(at)?;
        if home != segment {
            return invalid("its variable is in another segment");
        }
        match rest {
            None => Ok(base),
            Some(rest) => Ok(self.b.pointer(
                space,
                format_args!("getelementptr i8, {base}, {}", rest.argument()),
            )),
        }
    }

    /// The register of an address plus its offset, if there is more than nothing.
    fn offset(&mut self, address: &Address, ty: Ty) -> Result<Option<Value>, Reason> {
        let constant = if ty == Ty::I32 {
            // Address arithmetic is modulo the size of addresses.
            low_word(address.offset)
        } else {
            address.offset
        };
        let register = match address.register {
            Some(register) => {
                let (place, whole) = self.register(register)?;
                if whole != ty {
                    return invalid(
                        "the register of its address has another size than addresses of its segment",
                    );
                }
                Some(self.b.value(ty, format_args!("load {ty}, {place}")))
            }
            None => None,
        };
        Ok(match (register, constant) {
            (register, 0) => register,
            (None, constant) => Some(Value::int(ty, constant)),
            (Some(register), constant) => Some(self.b.with_constant("add", &register, constant)),
        })
    }
}

/// The low 32 bits of a number, as a number of that size.
fn low_word(value: i64) -> i64 {
    let [a, b, c, d, ..] = value.to_le_bytes();
    i32::from_le_bytes([a, b, c, d]).into()
}

/// A constant as an integer.
fn immediate(constant: Constant<'_>, ty: Ty) -> String {
    let mask = u128::MAX >> (128 - ty.bits().clamp(1, 128));
    let value = constant.number() & mask;
    if ty == Ty::I1 {
        return (value == 1).to_string();
    }
    value.to_string()
}

/// A constant operand that has to be one.
pub(super) fn constant(i: &Instruction<'_>, index: usize) -> Result<u128, Reason> {
    match i.operand(index) {
        Some(Operand::Constant(constant)) => Ok(constant.number()),
        _ => invalid(format!("operand {index} is no constant")),
    }
}
