//! One kernel or function: its head, its registers and variables, its instructions in order.
//!
//! A register is memory of the work-item, which LLVM turns into values again; it has the function's scope and so lives
//! through calls (PRM 4.7). All registers are zero at first, so that what a program reads too early is at least the same
//! everywhere.

use super::builder::{Builder, Pointer, Value};
use super::error::{invalid, Error, Reason};
use super::globals::{size, space, Globals, PrivateFrame};
use super::names::{quoted, symbol};
use super::ty::Ty;
use super::{dispatch, instruction};
use crate::brig::{
    CodeOffset, Directive, Entry, Executable, ExecutableKind, Label, Linkage, Module, Register, RegisterKind,
    Segment, Variable,
};
use crate::program::{Linked, Symbol, Target};
use std::collections::BTreeMap;

/// What all functions of a program share.
pub(super) struct Unit<'a> {
    pub(super) linked: &'a Linked,
    pub(super) target: &'a Target,
    pub(super) frame: PrivateFrame,
}

impl Unit<'_> {
    /// Whether code is made for a chip of GFX9.
    pub(super) fn is_gfx9(&self) -> bool {
        self.target.isa.contains("--gfx9")
    }
}

/// A function while it is translated.
pub(super) struct Function<'a> {
    pub(super) unit: &'a Unit<'a>,
    pub(super) globals: &'a mut Globals,
    /// The module's index.
    pub(super) index: usize,
    pub(super) module: &'a Module,
    pub(super) executable: Executable<'a>,
    pub(super) b: Builder,
    registers: BTreeMap<Register, Pointer>,
    /// Variables of the work-item and arguments.
    locals: BTreeMap<CodeOffset, Pointer>,
    /// Offsets of a kernel's arguments.
    kernargs: BTreeMap<CodeOffset, u64>,
}

/// A function in IR, with what it needs beside itself.
pub(super) struct Translated {
    pub(super) text: String,
    pub(super) declarations: std::collections::BTreeSet<String>,
    pub(super) helpers: std::collections::BTreeSet<&'static str>,
}

/// How an argument of a function goes into a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Passing {
    /// As an integer of its size.
    Value(Ty),
    /// By the address of the caller's variable, which the callee only reads, or for the output only writes.
    Address,
}

/// How a variable of the arg segment goes into a call.
pub(super) fn passing(variable: &Variable<'_>) -> Passing {
    match Ty::of(variable.ty) {
        Some(ty) if !variable.ty.is_array() => Passing::Value(Ty::int(ty.bits())),
        _ => Passing::Address,
    }
}

/// The type of a function's result, `void` if it has none or one that goes by address.
pub(super) fn result_type(executable: Executable<'_>) -> String {
    match executable.output().as_ref().map(passing) {
        Some(Passing::Value(ty)) => ty.to_string(),
        _ => "void".to_owned(),
    }
}

impl<'a> Function<'a> {
    /// Translates the definition at a symbol.
    pub(super) fn translate(
        unit: &'a Unit<'a>,
        globals: &'a mut Globals,
        at: Symbol,
    ) -> Result<Translated, Error> {
        let module = unit.linked.module(at);
        let Some(executable) = module.executable(at.at) else {
            return Err(Error::Module {
                module: module.facts().name.to_owned(),
                what: format!("there is no function at {:#x}", at.at.0),
            });
        };
        let mut function = Self {
            unit,
            globals,
            index: at.module,
            module,
            executable,
            b: Builder::default(),
            registers: BTreeMap::new(),
            locals: BTreeMap::new(),
            kernargs: BTreeMap::new(),
        };
        let head = function.head()?;
        for entry in executable.entries() {
            function.entry(entry)?;
        }
        let last = function.return_text();
        let (body, declarations, helpers) = function.b.finish(&last);
        Ok(Translated {
            text: format!("{head} {{\n{body}}}\n"),
            declarations,
            helpers,
        })
    }

    fn head(&mut self) -> Result<String, Error> {
        let facts = self.module.facts();
        let executable = self.executable;
        let name = quoted(&symbol(facts.name, executable.linkage, executable.name));
        let has_frame = !self.unit.frame.is_empty();
        if executable.kind == ExecutableKind::Kernel {
            if has_frame {
                let frame = &self.unit.frame;
                let pointer = self.b.alloca(&format!("[{} x i8]", frame.bytes), frame.align);
                self.b
                    .at_entry(format_args!("%frame = getelementptr i8, {pointer}, i32 0"));
            }
            let (bytes, align) = self.lay_out_kernargs()?;
            return Ok(format!(
                "define protected amdgpu_kernel void {name}(ptr addrspace(4) byref([{bytes} x i8]) align {align} %kernarg) #0"
            ));
        }
        let mut parameters = Vec::new();
        if has_frame {
            parameters.push("ptr addrspace(5) %frame".to_owned());
        }
        if let Some(output) = executable.output() {
            match passing(&output) {
                Passing::Value(_) => self.declare_local(&output)?,
                Passing::Address => parameters.push(self.parameter(&output, "%out")),
            }
        }
        for (number, input) in executable.inputs().enumerate() {
            let parameter = format!("%in{number}");
            match passing(&input) {
                Passing::Value(ty) => {
                    parameters.push(format!("{ty} {parameter}"));
                    self.declare_local(&input)?;
                    let place = &self.locals[&input.at];
                    self.b.at_entry(format_args!("store {ty} {parameter}, {place}"));
                }
                Passing::Address => parameters.push(self.parameter(&input, &parameter)),
            }
        }
        let visibility = match executable.kind {
            ExecutableKind::IndirectFunction => "protected",
            _ => "internal",
        };
        let result = result_type(executable);
        Ok(format!(
            "define {visibility} {result} {name}({}) #1",
            parameters.join(", ")
        ))
    }

    fn parameter(&mut self, variable: &Variable<'_>, name: &str) -> String {
        let pointer = Pointer {
            text: name.to_owned(),
            space: space::PRIVATE,
        };
        let text = pointer.to_string();
        self.locals.insert(variable.at, pointer);
        text
    }

    /// Size and alignment of the kernarg segment (PRM 4.21): multiples of 16.
    fn lay_out_kernargs(&mut self) -> Result<(u64, u32), Error> {
        let (mut bytes, mut align) = (0u64, 16);
        for input in self.executable.inputs() {
            bytes = bytes.next_multiple_of(input.alignment().into());
            self.kernargs.insert(input.at, bytes);
            bytes += size(&input)?;
            align = align.max(input.alignment());
        }
        Ok((bytes.next_multiple_of(16), align))
    }

    fn declare_local(&mut self, variable: &Variable<'_>) -> Result<(), Error> {
        let ty = match passing(variable) {
            Passing::Value(ty) => ty.to_string(),
            Passing::Address => format!("[{} x i8]", size(variable)?),
        };
        let pointer = self.b.alloca(&ty, variable.alignment());
        self.locals.insert(variable.at, pointer);
        Ok(())
    }

    fn entry(&mut self, entry: Entry<'a>) -> Result<(), Error> {
        match entry {
            Entry::Directive(Directive::Variable(variable)) => match variable.segment {
                Segment::ARG | Segment::PRIVATE | Segment::SPILL => self.declare_local(&variable),
                // The others come to be where they are used.
                _ => Ok(()),
            },
            Entry::Directive(Directive::Label(label)) => {
                self.b.block(&label_name(label));
                Ok(())
            }
            Entry::Directive(_) => Ok(()),
            // What follows a branch without a label is never reached.
            Entry::Instruction(_) if self.b.is_ended() => Ok(()),
            Entry::Instruction(i) => {
                instruction::translate(self, &i).map_err(|reason| reason.at(self.executable.name, &i))
            }
        }
    }

    /// The instruction that returns.
    pub(super) fn return_text(&mut self) -> String {
        let output = self.executable.output();
        let is_kernel = self.executable.kind == ExecutableKind::Kernel;
        match output
            .as_ref()
            .map(|output| (passing(output), self.locals.get(&output.at).cloned()))
        {
            Some((Passing::Value(ty), Some(place))) if !is_kernel => {
                let value = self.b.value(ty, format_args!("load {ty}, {place}"));
                format!("ret {}", value.argument())
            }
            _ => "ret void".to_owned(),
        }
    }

    /// A register's memory and the type of all of it.
    pub(super) fn register(&mut self, register: Register) -> Result<(Pointer, Ty), Reason> {
        let ty = match register.kind {
            RegisterKind::CONTROL => Ty::I1,
            RegisterKind::SINGLE => Ty::I32,
            RegisterKind::DOUBLE => Ty::I64,
            RegisterKind::QUAD => Ty::I128,
            _ => return invalid("an operand is a register of no known kind"),
        };
        if let Some(pointer) = self.registers.get(&register) {
            return Ok((pointer.clone(), ty));
        }
        let pointer = self.b.alloca(&ty.to_string(), ty.bits().div_ceil(8));
        self.b
            .at_entry(format_args!("store {ty} {}, {pointer}", ty.splat(0)));
        self.registers.insert(register, pointer.clone());
        Ok((pointer, ty))
    }

    /// The memory of a variable, with its segment.
    pub(super) fn variable(&mut self, at: CodeOffset) -> Result<(Pointer, Segment), Reason> {
        let Some(variable) = self.module.variable(at) else {
            return invalid("an address names no variable");
        };
        if let Some(pointer) = self.locals.get(&at) {
            return Ok((pointer.clone(), variable.segment));
        }
        if let Some(offset) = self.kernargs.get(&at) {
            let text = format!("getelementptr i8, ptr addrspace(4) %kernarg, i64 {offset}");
            return Ok((self.b.pointer(space::CONSTANT, text), variable.segment));
        }
        let here = Symbol {
            module: self.index,
            at,
        };
        let is_of_module = matches!(variable.linkage, Linkage::PROGRAM | Linkage::MODULE);
        if !is_of_module {
            let function = symbol(
                self.module.facts().name,
                self.executable.linkage,
                self.executable.name,
            );
            return match self.globals.of_function(here, &variable, &function)? {
                Some(pointer) => Ok((pointer, variable.segment)),
                None => invalid(format!("{} is not a variable of this function", variable.name)),
            };
        }
        let definition = self.unit.linked.definition(here);
        if let Some(offset) = self.unit.frame.offset(definition) {
            let text = format!("getelementptr i8, ptr addrspace(5) %frame, i32 {offset}");
            return Ok((self.b.pointer(space::PRIVATE, text), variable.segment));
        }
        match self.globals.of_module(self.unit.linked, definition)? {
            Some(pointer) => Ok((pointer, variable.segment)),
            None => Err(Error::Variable {
                variable: variable.name.to_owned(),
                what: "no module of the program defines it".to_owned(),
            }
            .into()),
        }
    }

    /// The address of the kernel's arguments, 64 bits.
    pub(super) fn kernarg_base(&mut self) -> Value {
        const KERNARG_IN_PACKET: u32 = 40;
        dispatch::packet_member(self, KERNARG_IN_PACKET, Ty::I64)
    }
}

/// The name of the block at a label. Labels are told apart by where they are.
pub(super) fn label_name(label: Label<'_>) -> String {
    format!("L{}", label.at.0)
}
