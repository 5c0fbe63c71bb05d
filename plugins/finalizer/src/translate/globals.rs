//! Variables of module scope, and those of functions that all work-items share.

use super::builder::Pointer;
use super::error::{type_name, Error};
use super::names::{escaped, quoted, symbol};
use crate::brig::{Operand, Segment, Variable};
use crate::program::{Linked, Symbol};
use std::collections::{BTreeMap, HashMap};

/// Address spaces of AMD GPUs.
pub(super) mod space {
    pub(crate) const FLAT: u32 = 0;
    pub(crate) const GLOBAL: u32 = 1;
    pub(crate) const GROUP: u32 = 3;
    pub(crate) const CONSTANT: u32 = 4;
    pub(crate) const PRIVATE: u32 = 5;
}

/// Largest variable; what LLVM counts in is larger.
const MAX_BYTES: u64 = 1 << 40;
/// Largest variable in the memory of a work-group or a work-item, and in arguments: more than any has.
const MAX_SMALL_BYTES: u64 = 1 << 24;
/// Largest initializer.
const MAX_INITIAL_BYTES: u64 = 1 << 28;

/// Where the private variables of module scope are: in a structure that each work-item of a kernel has, and whose address
/// functions get, since a work-item's memory has no symbols.
#[derive(Debug, Default)]
pub(super) struct PrivateFrame {
    offsets: HashMap<Symbol, u64>,
    pub(super) bytes: u64,
    pub(super) align: u32,
}

impl PrivateFrame {
    pub(super) fn new(linked: &Linked) -> Result<Self, Error> {
        let mut frame = Self::default();
        for (module, brig) in linked.modules().iter().enumerate() {
            let all = brig
                .variables()
                .filter(|v| v.is_definition && matches!(v.segment, Segment::PRIVATE | Segment::SPILL));
            for variable in all {
                let align = variable.alignment();
                let bytes = size(&variable)?;
                frame.bytes = frame.bytes.next_multiple_of(align.into());
                frame.offsets.insert(
                    Symbol {
                        module,
                        at: variable.at,
                    },
                    frame.bytes,
                );
                frame.bytes += bytes;
                frame.align = frame.align.max(align);
            }
        }
        Ok(frame)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.offsets.is_empty()
    }

    pub(super) fn offset(&self, symbol: Symbol) -> Option<u64> {
        self.offsets.get(&symbol).copied()
    }
}

/// The variables of a program, in IR.
#[derive(Debug, Default)]
pub(super) struct Globals {
    text: BTreeMap<Symbol, (Pointer, String)>,
    /// Fbarriers by their entry.
    fbarriers: BTreeMap<Symbol, Pointer>,
}

impl Globals {
    /// All definitions that the host may ask for: global and readonly ones of module scope.
    pub(super) fn new(linked: &Linked) -> Result<Self, Error> {
        let mut globals = Self::default();
        for (module, brig) in linked.modules().iter().enumerate() {
            let all = brig
                .variables()
                .filter(|v| v.is_definition && matches!(v.segment, Segment::GLOBAL | Segment::READONLY));
            for variable in all {
                let name = symbol(brig.facts().name, variable.linkage, variable.name);
                let at = Symbol {
                    module,
                    at: variable.at,
                };
                globals.add(at, &variable, &name, Place::Program)?;
            }
        }
        Ok(globals)
    }

    /// A variable of module scope by its definition, or by its declaration if there is none.
    pub(super) fn of_module(&mut self, linked: &Linked, at: Symbol) -> Result<Option<Pointer>, Error> {
        let module = linked.module(at);
        match module.variable(at.at) {
            Some(variable) => {
                let name = symbol(module.facts().name, variable.linkage, variable.name);
                self.add(at, &variable, &name, Place::Program)
            }
            None => Ok(None),
        }
    }

    /// A variable of a function.
    pub(super) fn of_function(
        &mut self,
        at: Symbol,
        variable: &Variable<'_>,
        function: &str,
    ) -> Result<Option<Pointer>, Error> {
        let name = format!("{function}.{}.{}", variable.name, variable.at.0);
        self.add(at, variable, &name, Place::Function)
    }

    /// The state of an fbarrier: 64 bits in the group segment.
    pub(super) fn fbarrier(&mut self, at: Symbol) -> Pointer {
        let name = quoted(&format!("hansa.fbarrier.{}.{}", at.module, at.at.0));
        let make = || Pointer {
            text: name,
            space: space::GROUP,
        };
        self.fbarriers.entry(at).or_insert_with(make).clone()
    }

    /// Lines of IR.
    pub(super) fn lines(&self) -> impl Iterator<Item = String> + '_ {
        let fbarriers = self.fbarriers.values().map(|pointer| {
            let name = &pointer.text;
            format!("{name} = internal addrspace(3) global i64 undef, align 8")
        });
        self.text.values().map(|(_, line)| line.clone()).chain(fbarriers)
    }

    fn add(
        &mut self,
        at: Symbol,
        variable: &Variable<'_>,
        name: &str,
        place: Place,
    ) -> Result<Option<Pointer>, Error> {
        if let Some((pointer, _)) = self.text.get(&at) {
            return Ok(Some(pointer.clone()));
        }
        let space = match variable.segment {
            Segment::GLOBAL => space::GLOBAL,
            Segment::READONLY => space::CONSTANT,
            Segment::GROUP => space::GROUP,
            _ => return Ok(None),
        };
        let pointer = Pointer {
            text: quoted(name),
            space,
        };
        let line = line(variable, &pointer, place)?;
        self.text.insert(at, (pointer.clone(), line));
        Ok(Some(pointer))
    }
}

/// Where a variable is declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// In a module: the host sees it.
    Program,
    /// In a function: nobody else does.
    Function,
}

fn line(variable: &Variable<'_>, pointer: &Pointer, place: Place) -> Result<String, Error> {
    let Pointer { text: name, space } = pointer;
    let bytes = size(variable)?;
    let align = variable.alignment();
    if variable.segment == Segment::GROUP {
        if !variable.is_definition {
            return Err(fault(variable, "no module of the program defines it"));
        }
        return Ok(format!(
            "{name} = internal addrspace(3) global [{bytes} x i8] undef, align {align}"
        ));
    }
    if !variable.is_definition {
        return Ok(format!(
            "{name} = external addrspace({space}) global [{bytes} x i8], align {align}"
        ));
    }
    let linkage = match place {
        // What the host writes is not known here, so what is there at first says nothing about later.
        Place::Program => "protected",
        Place::Function => "internal",
    };
    let host = match (place, variable.is_const) {
        (Place::Program, false) => "externally_initialized ",
        _ => "",
    };
    let kind = if variable.is_const { "constant" } else { "global" };
    let first = initial(variable, bytes)?;
    Ok(format!(
        "{name} = {linkage} addrspace({space}) {host}{kind} [{bytes} x i8] {first}, align {align}"
    ))
}

/// The first value, as IR.
fn initial(variable: &Variable<'_>, bytes: u64) -> Result<String, Error> {
    let Some(init) = variable.init else {
        return Ok("zeroinitializer".to_owned());
    };
    if bytes > MAX_INITIAL_BYTES {
        return Err(fault(variable, "its initializer is too large"));
    }
    let mut all = Vec::new();
    append(variable, init, &mut all)?;
    if all.len() as u64 != bytes {
        return Err(fault(variable, "its initializer has another size"));
    }
    if all.iter().all(|byte| *byte == 0) {
        return Ok("zeroinitializer".to_owned());
    }
    Ok(format!("c\"{}\"", escaped(all.into_iter())))
}

fn append(variable: &Variable<'_>, operand: Operand<'_>, all: &mut Vec<u8>) -> Result<(), Error> {
    match operand {
        Operand::Constant(constant) => all.extend_from_slice(constant.bytes),
        Operand::Align(align) => {
            let align = align.bytes().unwrap_or(1) as usize;
            all.resize(all.len().next_multiple_of(align), 0);
        }
        Operand::ConstantList(_, list) => {
            for element in list.operands() {
                if matches!(element, Operand::ConstantList(..)) {
                    return Err(fault(variable, "its initializer has a list in a list"));
                }
                append(variable, element, all)?;
                if all.len() as u64 > MAX_INITIAL_BYTES {
                    return Err(fault(variable, "its initializer is too large"));
                }
            }
        }
        Operand::Image(_) => {
            return Err(fault(
                variable,
                "images are made by the runtime, not by initializers",
            ))
        }
        Operand::Sampler(_) => {
            return Err(fault(
                variable,
                "samplers are made by the runtime, not by initializers",
            ))
        }
        _ => return Err(fault(variable, "its initializer is no constant")),
    }
    Ok(())
}

/// The size of a variable that there can be.
pub(super) fn size(variable: &Variable<'_>) -> Result<u64, Error> {
    let bytes = variable.bytes();
    let most = match variable.segment {
        Segment::GLOBAL | Segment::READONLY => MAX_BYTES,
        _ => MAX_SMALL_BYTES,
    };
    if bytes > most {
        return Err(fault(variable, "it is larger than its segment can be"));
    }
    if variable.ty.bytes() == 0 {
        let name = type_name(variable.ty).unwrap_or_else(|| "none".to_owned());
        return Err(fault(variable, &format!("its type is {name}")));
    }
    Ok(bytes)
}

fn fault(variable: &Variable<'_>, what: &str) -> Error {
    Error::Variable {
        variable: variable.name.to_owned(),
        what: what.to_owned(),
    }
}
