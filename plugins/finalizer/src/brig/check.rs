//! The structure of a module: sizes, references, lists, and what may stand where.

use super::directive::Executable;
use super::error::{BrigError, Place};
use super::layout::{self, directive as d, operand as o};
use super::module::{end, CodeOffset, Module, Raw};
use super::opcode::Opcode;
use super::operand::{Operand, Register};
use super::types::{Base, Type};
use super::values::RegisterKind;

/// More operands than any instruction has.
const MAX_OPERANDS: usize = 8;

/// How much of what is referred to may be looked at, in multiples of the module's size. Entries may share names and
/// lists; a small module that lets very many entries share a very long list is not a program.
const SHARING: u64 = 64;

/// Registers of a function, in 32 bits; those for conditions are counted by themselves.
const MAX_SLOTS: u32 = 2048;
const MAX_CONTROL: u32 = 128;

fn walk(module: &Module, place: Place, mut visit: impl FnMut(u32)) -> Result<(), BrigError> {
    let (section, bytes): (_, fn(u16) -> Option<u32>) = match place {
        Place::Operands => (&module.sections().operands, layout::operand_bytes),
        _ => (&module.sections().code, layout::code_bytes),
    };
    let mut at = section.first;
    while at < end(section) {
        let error = |reason| BrigError {
            place,
            offset: at.into(),
            reason,
        };
        let entry = match place {
            Place::Operands => module.operand_entry(at),
            _ => module.code_entry(at),
        };
        let size = u32::from(entry.size());
        if size < layout::ENTRY_BASE || size % 4 != 0 {
            return Err(error(
                "the size of an entry is 0, not a multiple of 4, or reaches beyond the section",
            ));
        }
        let least = bytes(entry.kind()).ok_or_else(|| error("an entry of an unknown kind"))?;
        if size < least {
            return Err(error("an entry is too small for its kind"));
        }
        if entry.kind() != layout::NONE {
            visit(at);
        }
        at += size;
    }
    Ok(())
}

/// Where the entries of the code start.
pub(super) fn code_starts(module: &Module) -> Result<Vec<u32>, BrigError> {
    let mut starts = Vec::new();
    walk(module, Place::Code, |at| starts.push(at))?;
    Ok(starts)
}

/// Checks everything; the answer is where the module directive is.
pub(super) fn structure(module: &Module) -> Result<CodeOffset, BrigError> {
    let mut operands = Vec::new();
    walk(module, Place::Operands, |at| operands.push(at))?;
    let mut check = Check {
        module,
        operands,
        budget: SHARING * module.bytes().len() as u64,
    };
    for i in 0..check.operands.len() {
        let at = check.operands[i];
        check.operand(at).map_err(|reason| BrigError {
            place: Place::Operands,
            offset: at.into(),
            reason,
        })?;
    }
    check.code()
}

type Checked<T = ()> = Result<T, &'static str>;

struct Check<'m> {
    module: &'m Module,
    operands: Vec<u32>,
    budget: u64,
}

impl<'m> Check<'m> {
    /// Pays for looking at something of a size.
    fn pay(&mut self, bytes: usize) -> Checked {
        let rest = self.budget.checked_sub(bytes as u64 + 1);
        self.budget = rest.ok_or("too many entries share too long names and lists")?;
        Ok(())
    }

    fn data(&mut self, at: u32) -> Checked<&'m [u8]> {
        let data = self
            .module
            .checked_data(at)
            .ok_or("a reference to hsa_data leads to no entry there")?;
        self.pay(data.len())?;
        Ok(data)
    }

    fn text(&mut self, at: u32) -> Checked<&'m str> {
        let bytes = self.data(at)?;
        std::str::from_utf8(bytes).map_err(|_| "a string is not UTF-8")
    }

    /// A name: a sigil and something after it.
    fn name(&mut self, at: u32, sigils: &[char]) -> Checked {
        let name = self.text(at)?;
        if !name.starts_with(sigils) || name.len() < 2 || name.contains('\0') {
            return Err("a name does not start with its sigil, is nothing else, or has a NUL in it");
        }
        Ok(())
    }

    /// A list of references; empty for 0.
    fn list(&mut self, at: u32) -> Checked<impl Iterator<Item = u32> + 'm> {
        let bytes = if at == 0 { &[][..] } else { self.data(at)? };
        if bytes.len() % 4 != 0 {
            return Err("a list is not made of 32-bit references");
        }
        let words = bytes.chunks_exact(4);
        Ok(words.map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]])))
    }

    /// The kind of an operand that something refers to.
    fn operand_kind(&self, at: u32) -> Checked<u16> {
        let found = self.operands.binary_search(&at);
        found.map_err(|_| "a reference to hsa_operand leads to no entry there")?;
        Ok(self.module.operand_entry(at).kind())
    }

    /// The kind of an entry of the code that something refers to.
    fn code_kind(&self, at: u32) -> Checked<u16> {
        let found = self.module.starts().binary_search(&at);
        found.map_err(|_| "a reference to hsa_code leads to no entry there")?;
        Ok(self.module.code_entry(at).kind())
    }

    /// Checks what an operand refers to.
    fn operand(&mut self, at: u32) -> Checked {
        let entry = self.module.operand_entry(at);
        match entry.kind() {
            o::ADDRESS => {
                let (symbol, register) = (entry.u32(4), entry.u32(8));
                if symbol != 0 && !matches!(self.code_kind(symbol)?, d::VARIABLE | d::FBARRIER) {
                    return Err("the symbol of an address is neither a variable nor an fbarrier");
                }
                if register != 0 && self.operand_kind(register)? != o::REGISTER {
                    return Err("the register of an address is none");
                }
            }
            o::ALIGN if self.module.operand(at).is_bad_alignment() => return Err("not an alignment"),
            o::CODE_LIST => {
                for element in self.list(entry.u32(4))? {
                    self.referable(element)?;
                }
            }
            o::CODE_REF => self.referable(entry.u32(4))?,
            o::CONSTANT_BYTES => self.constant(entry)?,
            o::CONSTANT_OPERAND_LIST => {
                known_type(entry.u16(4))?;
                for element in self.list(entry.u32(8))? {
                    let kind = self.operand_kind(element)?;
                    let constant = matches!(
                        kind,
                        o::ALIGN | o::CONSTANT_BYTES | o::CONSTANT_IMAGE | o::CONSTANT_SAMPLER
                    );
                    if !constant {
                        return Err("an aggregate constant is made of something that is no constant");
                    }
                }
            }
            o::OPERAND_LIST => {
                for element in self.list(entry.u32(4))? {
                    let kind = self.operand_kind(element)?;
                    if !matches!(kind, o::REGISTER | o::CONSTANT_BYTES | o::WAVESIZE) {
                        return Err("a list of operands has neither a register nor a constant in it");
                    }
                }
            }
            o::REGISTER => match self.module.operand(at) {
                Operand::Register(register) => known_register(register)?,
                _ => return Err("not a register"),
            },
            o::STRING => drop(self.text(entry.u32(4))?),
            _ => {}
        }
        Ok(())
    }

    fn constant(&mut self, entry: Raw<'_>) -> Checked {
        let ty = Type(entry.u16(4));
        known_type(ty.0)?;
        let length = self.data(entry.u32(8))?.len();
        let bytes = ty.bytes() as usize;
        let fits = match (bytes, ty.is_array()) {
            (0, _) => false,
            (_, true) => length > 0 && length % bytes == 0,
            (_, false) => length == bytes,
        };
        if fits && !ty.is_image() && ty.base() != Base::SAMPLER {
            Ok(())
        } else {
            Err("a constant does not have the size of its type")
        }
    }

    /// Something that a code reference may name.
    fn referable(&self, at: u32) -> Checked {
        let kind = self.code_kind(at)?;
        if layout::is_executable(kind) || matches!(kind, d::LABEL | d::VARIABLE | d::FBARRIER) {
            Ok(())
        } else {
            Err("a reference to hsa_code leads to something that has no name")
        }
    }

    /// Checks the code.
    fn code(&mut self) -> Result<CodeOffset, BrigError> {
        let module = self.module;
        let mut scopes = Scopes::default();
        let mut directive = None;
        for &at in module.starts() {
            let entry = module.code_entry(at);
            let error = |reason| BrigError::code(at, reason);
            self.entry(entry).map_err(error)?;
            match entry.kind() {
                d::COMMENT | d::LOC | d::PRAGMA => continue,
                d::MODULE if directive.is_some() => {
                    return Err(error("there are two module directives"));
                }
                d::MODULE => directive = Some(CodeOffset(at)),
                _ if directive.is_none() => {
                    return Err(error("something is in front of the module directive"))
                }
                _ => {}
            }
            if let Some(executable) = module.executable(CodeOffset(at)) {
                self.executable(executable, entry).map_err(error)?;
                scopes.open(executable).map_err(error)?;
            } else {
                scopes.place(entry.kind(), at).map_err(error)?;
            }
        }
        for &at in module.starts() {
            let entry = module.code_entry(at);
            if layout::is_instruction(entry.kind()) {
                self.visible(&scopes, at, entry)
                    .map_err(|reason| BrigError::code(at, reason))?;
            }
        }
        directive.ok_or_else(|| BrigError::code(0, "there is no module directive"))
    }

    /// Checks what an entry of the code refers to.
    fn entry(&mut self, entry: Raw<'_>) -> Checked {
        let kind = entry.kind();
        match kind {
            d::COMMENT | d::EXTENSION => drop(self.text(entry.u32(4))?),
            d::LOC => drop(self.text(entry.u32(4))?),
            d::LABEL => self.name(entry.u32(4), &['@'])?,
            d::MODULE => {
                self.name(entry.u32(4), &['&'])?;
                if entry.u32(8) != 1 || entry.u32(12) != 0 {
                    return Err("the version of HSAIL is not 1.0");
                }
                if entry.u8(16) > 1 || entry.u8(17) > 1 || !(1..=3).contains(&entry.u8(18)) {
                    return Err("an unknown profile, machine model or default rounding");
                }
            }
            d::FBARRIER => self.name(entry.u32(4), &['&', '%'])?,
            d::PRAGMA => self.annotation(entry.u32(4))?,
            d::CONTROL => self.annotation(entry.u32(8))?,
            d::VARIABLE => {
                // The arguments of a signature need no names.
                if entry.u32(4) != 0 && !self.text(entry.u32(4))?.is_empty() {
                    self.name(entry.u32(4), &['&', '%'])?;
                }
                known_type(entry.u16(12))?;
                if entry.u16(12) == 0 || entry.u8(15) > 9 {
                    return Err("a variable without a type, or with an unknown alignment");
                }
                let init = entry.u32(8);
                if init != 0 {
                    let kind = self.operand_kind(init)?;
                    let constant = matches!(
                        kind,
                        o::CONSTANT_BYTES
                            | o::CONSTANT_OPERAND_LIST
                            | o::CONSTANT_IMAGE
                            | o::CONSTANT_SAMPLER
                    );
                    if !constant {
                        return Err("a variable starts with something that is no constant");
                    }
                }
            }
            _ if layout::is_executable(kind) => self.name(entry.u32(4), &['&'])?,
            _ if layout::is_instruction(kind) => self.instruction(entry)?,
            _ => {}
        }
        Ok(())
    }

    /// The operands of a pragma or of a control directive.
    fn annotation(&mut self, list: u32) -> Checked {
        for operand in self.list(list)? {
            self.operand_kind(operand)?;
            self.pay_operand(operand)?;
        }
        Ok(())
    }

    fn instruction(&mut self, entry: Raw<'_>) -> Checked {
        let opcode = Opcode(entry.u16(4));
        if opcode.name().is_none() && opcode < Opcode::FIRST_OF_VENDORS {
            return Err("an unknown operation");
        }
        known_type(entry.u16(6))?;
        let operands = self.list(entry.u32(8))?;
        for (i, operand) in operands.enumerate() {
            if i == MAX_OPERANDS {
                return Err("an instruction has more operands than there are");
            }
            self.operand_kind(operand)?;
            self.pay_operand(operand)?;
        }
        Ok(())
    }

    /// Pays for an operand that something refers to: a list of it is looked at once more.
    fn pay_operand(&mut self, at: u32) -> Checked {
        let entry = self.module.operand_entry(at);
        let list = match entry.kind() {
            o::CODE_LIST | o::OPERAND_LIST | o::STRING => entry.u32(4),
            o::CONSTANT_BYTES | o::CONSTANT_OPERAND_LIST => entry.u32(8),
            _ => return self.pay(0),
        };
        self.pay(self.module.data(list).len())
    }

    /// An executable's parts follow each other, and its arguments are as many as it says.
    fn executable(&self, executable: Executable<'_>, entry: Raw<'_>) -> Checked {
        let module = self.module;
        let next = executable.at.0 + u32::from(entry.size());
        let bounds = [next, entry.u32(12), entry.u32(16), entry.u32(20)];
        let is_start = |at: &u32| *at == module.code_end() || module.starts().binary_search(at).is_ok();
        if !bounds.is_sorted() || !bounds[1..].iter().all(is_start) {
            return Err("the parts of a kernel or function are not one after the other");
        }
        for (part, count) in [(&bounds[..2], entry.u16(8)), (&bounds[1..3], entry.u16(10))] {
            let first = module.starts().partition_point(|&at| at < part[0]);
            let entries = module.starts()[first..].iter().take_while(|&&at| at < part[1]);
            let mut variables = 0;
            for &at in entries {
                match module.code_entry(at).kind() {
                    d::VARIABLE => variables += 1,
                    d::COMMENT | d::LOC | d::PRAGMA => {}
                    _ => return Err("there is something among the arguments that is none"),
                }
            }
            if variables != u32::from(count) {
                return Err("there are not as many arguments as it says");
            }
        }
        if entry.u16(8) > 1 {
            return Err("there is more than one output argument");
        }
        if !executable.is_definition && !executable.body.is_empty() {
            return Err("a declaration has a body");
        }
        Ok(())
    }

    /// The symbols and labels that an instruction names are those of its own function, or of the module.
    fn visible(&mut self, scopes: &Scopes, at: u32, entry: Raw<'_>) -> Checked {
        for operand in self.list(entry.u32(8))? {
            match self.module.operand(operand) {
                Operand::Address(address) => {
                    if let Some(symbol) = address.symbol {
                        scopes.sees(at, symbol)?;
                    }
                }
                Operand::CodeRef(symbol) => scopes.sees(at, symbol)?,
                Operand::CodeList(list) => {
                    self.pay(list.len())?;
                    for symbol in list.code() {
                        scopes.sees(at, symbol)?;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// Where functions are, in order.
#[derive(Debug, Default)]
struct Scopes(Vec<(u32, u32, u32)>);

impl Scopes {
    fn open(&mut self, executable: Executable<'_>) -> Checked {
        let whole = executable.whole();
        if self.0.last().is_some_and(|&(_, _, end)| whole.start < end) {
            return Err("a kernel or function is inside of another");
        }
        self.0.push((whole.start, executable.body.start, whole.end));
        Ok(())
    }

    /// The function around an entry, if it is in one; its own directive is not.
    fn of(&self, at: u32) -> Option<(u32, u32, u32)> {
        let after = self.0.partition_point(|&(start, _, _)| start < at);
        let scope = *self.0.get(after.checked_sub(1)?)?;
        (at < scope.2).then_some(scope)
    }

    /// Checks that an entry of a kind may be where it is.
    fn place(&self, kind: u16, at: u32) -> Checked {
        let scope = self.of(at);
        let in_body = scope.is_some_and(|(_, body, _)| at >= body);
        let only_in_bodies = layout::is_instruction(kind)
            || matches!(
                kind,
                d::LABEL | d::ARG_BLOCK_START | d::ARG_BLOCK_END | d::CONTROL
            );
        let only_outside = matches!(kind, d::MODULE | d::EXTENSION);
        if (only_in_bodies && !in_body) || (only_outside && scope.is_some()) {
            return Err("an entry is inside of a function that may not be there, or outside of one");
        }
        Ok(())
    }

    fn sees(&self, at: u32, symbol: CodeOffset) -> Checked {
        let theirs = self.of(symbol.0);
        if theirs.is_none() || theirs == self.of(at) {
            Ok(())
        } else {
            Err("an instruction names something of another function")
        }
    }
}

fn known_type(ty: u16) -> Checked {
    if Type(ty).is_valid() {
        Ok(())
    } else {
        Err("an unknown type")
    }
}

fn known_register(register: Register) -> Checked {
    let number = u32::from(register.number);
    let fits = match register.kind {
        RegisterKind::CONTROL => number < MAX_CONTROL,
        RegisterKind::SINGLE => number < MAX_SLOTS,
        RegisterKind::DOUBLE => number < MAX_SLOTS / 2,
        RegisterKind::QUAD => number < MAX_SLOTS / 4,
        _ => false,
    };
    if fits {
        Ok(())
    } else {
        Err("an unknown register")
    }
}

impl Operand<'_> {
    fn is_bad_alignment(&self) -> bool {
        matches!(self, Operand::Align(align) if align.bytes().is_none())
    }
}
