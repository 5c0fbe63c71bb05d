//! Each rule of a module's structure, broken once: the error says which one and where.

mod assembler;

use assembler::assemble;
use hansa_finalizer::brig::{
    Directive, Entry, Executable, MachineModel, Module, Opcode, Place, Profile, Round, Variable,
};
use hansa_finalizer::program::{AddError, Program, Settings};

const ALL: &str = include_str!("hsail/all.hsail");

/// A module that can be changed.
struct Patched {
    bytes: Vec<u8>,
    module: Module,
}

impl Patched {
    fn new() -> Option<Self> {
        let bytes = assemble(ALL)?;
        let module = Module::parse(bytes.clone()).expect("HSAILasm writes valid BRIG");
        Some(Self { bytes, module })
    }

    fn word(&self, at: usize) -> usize {
        let word = self.bytes[at..at + 4].try_into().expect("four bytes");
        u32::from_le_bytes(word) as usize
    }

    /// Where a section is: 0 data, 1 code, 2 operands.
    fn section(&self, number: usize) -> usize {
        self.word(self.word(96) + 8 * number)
    }

    fn executable(&self, name: &str) -> Executable<'_> {
        let mut all = self.module.executables();
        all.find(|e| e.name == name && e.is_definition)
            .expect("the function is there")
    }

    /// Where an entry of the code is in the module.
    fn executable_at(&self, name: &str) -> usize {
        self.section(1) + self.executable(name).at.0 as usize
    }

    fn instruction_at(&self, function: &str, opcode: Opcode) -> usize {
        let found = self.executable(function).entries().find_map(|entry| match entry {
            Entry::Instruction(i) if i.opcode == opcode => Some(i.at.0 as usize),
            _ => None,
        });
        self.section(1) + found.expect("the instruction is there")
    }

    fn label_at(&self, function: &str, name: &str) -> usize {
        let found = self.executable(function).entries().find_map(|entry| match entry {
            Entry::Directive(Directive::Label(label)) if label.name == name => Some(label.at.0 as usize),
            _ => None,
        });
        self.section(1) + found.expect("the label is there")
    }

    /// The first operand of a kind.
    fn operand_at(&self, kind: u16) -> usize {
        let start = self.section(2);
        let mut at = start + self.word(start + 8);
        while u16::from_le_bytes([self.bytes[at + 2], self.bytes[at + 3]]) != kind {
            at += usize::from(u16::from_le_bytes([self.bytes[at], self.bytes[at + 1]]));
        }
        at
    }

    /// Expects an error after some bytes have been changed.
    fn expect(&self, at: usize, bytes: &[u8], place: Place, reason: &str) {
        let mut bad = self.bytes.clone();
        bad[at..at + bytes.len()].copy_from_slice(bytes);
        let Err(error) = Module::parse(bad) else {
            panic!("{bytes:?} at {at:#x} is accepted, not refused as {reason:?}");
        };
        assert!(
            error.place == place && error.reason.contains(reason),
            "{error}, not {reason:?}"
        );
    }
}

#[test]
fn the_container() {
    let Some(module) = Patched::new() else { return };
    let container = |at, bytes: &[u8], reason| module.expect(at, bytes, Place::Container, reason);
    container(0, b"HSA BRIX", "identification");
    container(8, &[2], "version");
    container(12, &[1], "version");
    container(16, &[8, 0, 0, 0], "less than the header");
    container(16, &[1], "multiple of 16");
    container(23, &[1], "32 bits");
    container(16, &[0xf0, 0xff, 0, 0], "size is not that of the block");
    container(92, &[2], "3 sections");
    container(94, &[1], "3 sections");
    container(96, &[100], "multiple of 8");
    container(96, &[0xf8, 0xff, 0xff], "reaches beyond");
    let index = module.word(96);
    container(index, &[4], "multiple of 16");
    container(index + 2, &[0xff], "reaches beyond");
    let first = module.word(index).to_le_bytes();
    container(index + 8, &first, "overlap");
    let data = module.section(0);
    container(data + 2, &[0xff], "reaches beyond");
    container(data + 8, &[3], "does not fit");
    container(data + 12, &[0xff], "does not fit");
    container(data + 16, b"HSA_data", "hsa_data, hsa_code and hsa_operand");
}

#[test]
fn the_code() {
    let Some(module) = Patched::new() else { return };
    let code = |at, bytes: &[u8], reason| module.expect(at, bytes, Place::Code, reason);
    let kernel = module.executable_at("&vector");
    code(kernel, &[0, 0], "size of an entry");
    code(kernel, &[30, 0], "size of an entry");
    code(kernel, &[8, 0], "too small");
    code(kernel + 2, &[0x0f, 0x10], "unknown kind");
    code(kernel + 4, &[1], "hsa_data");
    // firstInArg, firstCodeBlockEntry and nextModuleEntry in another order, and between two entries.
    code(kernel + 12, &[0xff, 0xff, 0xff, 0], "one after the other");
    code(kernel + 16, &[4, 0, 0, 0], "one after the other");
    let between = module.word(kernel + 20) - 4;
    code(kernel + 20, &between.to_le_bytes()[..4], "one after the other");
    code(kernel + 10, &[3], "as many arguments");
    code(kernel + 8, &[1], "as many arguments");
    code(kernel + 24, &[0], "declaration has a body");
    // The first function takes the second in.
    let next = module.word(module.executable_at("&local") + 20);
    code(
        module.executable_at("&twice") + 20,
        &next.to_le_bytes()[..4],
        "inside of another",
    );
    let start = module.section(1) + module.word(module.section(1) + 8);
    let directive = (start..)
        .step_by(4)
        .find(|&at| module.bytes[at..at + 4] == [20, 0, 0x0b, 0x10]);
    let directive = directive.expect("there is a module directive");
    code(directive + 8, &[2], "HSAIL is not 1.0");
    code(directive + 17, &[2], "unknown profile");
    code(directive + 2, &[0, 0], "in front of the module directive");
}

#[test]
fn instructions() {
    let Some(module) = Patched::new() else { return };
    let code = |at, bytes: &[u8], reason| module.expect(at, bytes, Place::Code, reason);
    let add = module.instruction_at("&twice", Opcode::ADD);
    code(add + 4, &[137, 0], "unknown operation");
    code(add + 6, &[24, 0], "unknown type");
    code(add + 6, &[12 | 1 << 5, 0], "unknown type");
    code(add + 8, &[2], "hsa_data");
    // A name in the place of a list.
    code(
        add + 8,
        &module.word(module.executable_at("&twice") + 4).to_le_bytes()[..4],
        "32-bit references",
    );
    // A branch of the kernel to itself is fine, a call of the kernel that names an argument of another function is not.
    let branch = module.instruction_at("&vector", Opcode::CBR);
    let call = module.instruction_at("&vector", Opcode::CALL);
    let store = module.instruction_at("&twice", Opcode::ST);
    let operands = |at: usize| module.bytes[at + 8..at + 12].to_vec();
    code(call + 8, &operands(store), "of another function");
    code(store + 8, &operands(branch), "of another function");
    let label = module.label_at("&vector", "@end");
    code(
        label + 4,
        &module.bytes[module.executable_at("&vector") + 4..][..4],
        "sigil",
    );
}

#[test]
fn operands() {
    let Some(module) = Patched::new() else { return };
    let operand = |at, bytes: &[u8], reason| module.expect(at, bytes, Place::Operands, reason);
    let register = module.operand_at(0x300a);
    operand(register + 4, &[4], "unknown register");
    operand(register + 6, &[0, 8], "unknown register");
    operand(register + 2, &[0x0d, 0x30], "unknown kind");
    let address = module.operand_at(0x3000);
    operand(address + 4, &[2], "hsa_code");
    operand(
        address + 4,
        &module.executable("&vector").at.0.to_le_bytes(),
        "neither a variable",
    );
    operand(address + 8, &[2], "hsa_operand");
    let here = address - module.section(2);
    operand(
        address + 8,
        &here.to_le_bytes()[..4],
        "register of an address is none",
    );
    let constant = module.operand_at(0x3004);
    operand(constant + 4, &[5], "size of its type");
    operand(constant + 4, &[0], "size of its type");
    let reference = module.operand_at(0x3003);
    operand(reference + 4, &[0, 0, 0, 0], "hsa_code");
    let instruction = module.instruction_at("&vector", Opcode::CBR) - module.section(1);
    operand(reference + 4, &instruction.to_le_bytes()[..4], "no name");
    let list = module.operand_at(0x3009);
    let labels = module.operand_at(0x3002);
    operand(list + 4, &module.bytes[labels + 4..labels + 8], "hsa_operand");
    operand(labels + 4, &module.bytes[list + 4..list + 8], "hsa_code");
}

/// What a program checks of a module that has the right structure.
#[test]
fn declarations() {
    let Some(module) = Patched::new() else { return };
    let expect = |at: usize, byte: u8, reason: &str| {
        let mut bad = module.bytes.clone();
        bad[at] = byte;
        let bad = Module::parse(bad).expect("the structure is right");
        let mut program = Program::new(Settings {
            machine_model: MachineModel::LARGE,
            profile: Profile::FULL,
            rounding: Round::NEAR,
        });
        let added = program.add(1, bad);
        let Err(AddError::Invalid(error)) = added else {
            panic!("{byte} at {at:#x} is accepted, not refused as {reason:?}: {added:?}");
        };
        assert!(error.reason.contains(reason), "{error}, not {reason:?}");
    };
    let code = module.section(1);
    let variable = |variable: Variable<'_>| code + variable.at.0 as usize;
    let global = |name| {
        variable(
            module
                .module
                .variables()
                .find(|v| v.name == name)
                .expect("it is there"),
        )
    };
    let kernel = module.executable_at("&vector");
    let argument = variable(
        module
            .executable("&vector")
            .inputs()
            .next()
            .expect("there are some"),
    );
    let (segment, linkage) = (14, 25);
    expect(kernel + linkage, 3, "program nor module linkage");
    expect(argument + segment, 2, "argument is in another segment");
    expect(global("&counter") + segment, 4, "variable of module scope");
    expect(global("&counter") + linkage, 3, "variable of module scope");
    expect(global("&counter") + 12, 1, "first value");
    expect(global("&counter") + segment, 5, "first value");
    expect(global("&table") + 16, 5, "first value");
    expect(global("&outside") + linkage, 2, "never defined");
    // The declaration of the function now has another linkage than its definition, or is a second definition.
    let declaration = module
        .module
        .executables()
        .find(|e| e.name == "&twice" && !e.is_definition);
    let declaration = code + declaration.expect("it is declared").at.0 as usize;
    expect(declaration + linkage, 2, "do not agree");
    expect(declaration + 24, 1, "do not agree");
    let local = module
        .executable("&vector")
        .entries()
        .find_map(|entry| match entry {
            Entry::Directive(Directive::Variable(variable)) => Some(variable),
            _ => None,
        });
    expect(
        variable(local.expect("it has some")) + segment,
        4,
        "variable of a function",
    );
}
