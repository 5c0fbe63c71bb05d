//! What HSAILasm writes is what the reader reads.

mod assembler;

use assembler::assemble;
use hansa_finalizer::brig::{
    AtomicOp, Compare, ControlKind, Directive, Entry, ExecutableKind, Form, Instruction, Linkage,
    MachineModel, Module, Opcode, Operand, Pack, Profile, RegisterKind, Round, Segment, Type, Variable,
};

const ALL: &str = include_str!("hsail/all.hsail");

fn all() -> Option<Module> {
    assemble(ALL).map(|bytes| Module::parse(bytes).expect("HSAILasm writes valid BRIG"))
}

fn named<'m>(module: &'m Module, name: &str) -> Variable<'m> {
    module
        .variables()
        .find(|v| v.name == name)
        .expect("the variable is there")
}

fn instructions(module: &Module) -> Vec<Instruction<'_>> {
    let kernel = module
        .executables()
        .find(|e| e.name == "&vector")
        .expect("the kernel is there");
    let entries = kernel.entries().filter_map(|entry| match entry {
        Entry::Instruction(instruction) => Some(instruction),
        Entry::Directive(_) => None,
    });
    entries.collect()
}

fn first<'m>(instructions: &[Instruction<'m>], opcode: Opcode) -> Instruction<'m> {
    *instructions
        .iter()
        .find(|i| i.opcode == opcode)
        .expect("the instruction is there")
}

#[test]
fn the_module_says_what_it_is() {
    let Some(module) = all() else { return };
    let facts = module.facts();
    assert_eq!((facts.name, facts.version), ("&all", (1, 0)));
    assert_eq!(
        (facts.profile, facts.machine_model, facts.rounding),
        (Profile::FULL, MachineModel::LARGE, Round::NEAR)
    );
    let extensions = module.top().filter_map(|entry| match entry {
        Entry::Directive(Directive::Extension(_, name)) => Some(name),
        _ => None,
    });
    assert_eq!(extensions.collect::<Vec<_>>(), ["IMAGE"]);
}

#[test]
fn executables_have_arguments_and_bodies() {
    let Some(module) = all() else { return };
    let found: Vec<_> = module
        .executables()
        .map(|e| {
            (
                e.kind,
                e.name,
                e.is_definition,
                e.output().is_some(),
                e.inputs().count(),
                e.body.is_empty(),
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            (ExecutableKind::Function, "&twice", false, true, 1, true),
            (ExecutableKind::Function, "&twice", true, true, 1, false),
            (ExecutableKind::Function, "&local", true, false, 0, false),
            (ExecutableKind::Signature, "&binary", true, true, 2, true),
            (ExecutableKind::Kernel, "&vector", true, false, 4, false),
        ]
    );
    let kernel = module.executables().last().expect("there are some");
    let arguments: Vec<_> = kernel
        .inputs()
        .map(|v| (v.name, v.segment, v.bytes(), v.alignment()))
        .collect();
    assert_eq!(
        arguments,
        [
            ("%a", Segment::KERNARG, 8, 8),
            ("%b", Segment::KERNARG, 8, 8),
            ("%n", Segment::KERNARG, 4, 4),
            ("%bytes", Segment::KERNARG, 5, 16),
        ]
    );
    assert_eq!(kernel.linkage, Linkage::PROGRAM);
}

#[test]
fn variables_have_values_and_qualifiers() {
    let Some(module) = all() else { return };
    let counter = named(&module, "&counter");
    let Some(Operand::Constant(value)) = counter.init else {
        panic!("it has a value: {counter:?}");
    };
    assert_eq!((value.ty, value.number()), (Type::U32, 7));
    let table = named(&module, "&table");
    assert!(table.ty.is_array() && !table.is_const);
    assert_eq!(
        (table.segment, table.dim, table.bytes()),
        (Segment::READONLY, 4, 16)
    );
    let outside = named(&module, "&outside");
    assert!(!outside.is_definition && outside.init.is_none());
    assert_eq!(named(&module, "&scratch").segment, Segment::GROUP);
}

#[test]
fn instructions_have_their_operands_and_their_form() {
    let Some(module) = all() else { return };
    let all = instructions(&module);
    let compare = first(&all, Opcode::CMP);
    assert!(matches!(
        compare.form,
        Form::Cmp {
            source_type: Type::U32,
            compare: Compare::GE,
            ftz: false,
            pack: Pack::NONE
        }
    ));
    let Some(Operand::Register(register)) = compare.operand(0) else {
        panic!("its destination is a register");
    };
    assert_eq!((register.kind, register.number), (RegisterKind::CONTROL, 0));
    let Some(Operand::Address(address)) = all
        .iter()
        .find(|i| {
            i.opcode == Opcode::LD
                && matches!(
                    i.form,
                    Form::Mem {
                        segment: Segment::GLOBAL,
                        ..
                    }
                )
        })
        .and_then(|i| i.operand(1))
    else {
        panic!("its source is an address");
    };
    assert_eq!((address.symbol, address.offset), (None, 4));
    assert_eq!(
        address.register.map(|r| (r.kind, r.number)),
        Some((RegisterKind::DOUBLE, 1))
    );
    let Some(Operand::Wavesize) = first(&all, Opcode::MAD).operand(3) else {
        panic!("its last operand is the size of a wavefront");
    };
    let atomic = first(&all, Opcode::ATOMICNORET);
    assert!(matches!(
        atomic.form,
        Form::Atomic {
            operation: AtomicOp::ADD,
            ..
        }
    ));
    let Some(Operand::Address(address)) = atomic.operand(0) else {
        panic!("it is on memory");
    };
    assert_eq!(address.symbol, Some(named(&module, "&counter").at));
    let adds: Vec<_> = all
        .iter()
        .filter(|i| i.opcode == Opcode::ADD)
        .map(|i| i.form)
        .collect();
    assert!(adds.contains(&Form::Mod {
        ftz: true,
        round: Round::ZERO,
        pack: Pack::NONE
    }));
    assert!(adds.contains(&Form::Mod {
        ftz: false,
        round: Round::NONE,
        pack: Pack::PP
    }));
    let Some(Operand::List(pair)) =
        all.iter()
            .filter(|i| i.opcode == Opcode::LD)
            .find_map(|i| match i.operand(0) {
                Some(operand @ Operand::List(_)) => Some(operand),
                _ => None,
            })
    else {
        panic!("one load has two destinations");
    };
    assert_eq!(
        pair.operands()
            .filter(|o| matches!(o, Operand::Register(_)))
            .count(),
        2
    );
}

#[test]
fn calls_and_switches_name_what_they_lead_to() {
    let Some(module) = all() else { return };
    let all = instructions(&module);
    let call = first(&all, Opcode::CALL);
    let Some(Operand::CodeRef(callee)) = call.operand(1) else {
        panic!("it names a function: {call:?}");
    };
    let callee = module.executable(callee).expect("it is a function");
    assert!(callee.name == "&twice" && callee.is_definition);
    let (Some(Operand::CodeList(outputs)), Some(Operand::CodeList(inputs))) =
        (call.operand(0), call.operand(2))
    else {
        panic!("it has arguments: {call:?}");
    };
    let names = |list: hansa_finalizer::brig::List<'_>| {
        let variables = list
            .code()
            .map(|at| module.variable(at).map(|v| v.name.to_owned()));
        variables.collect::<Option<Vec<_>>>()
    };
    assert_eq!(names(outputs), Some(vec!["%y".to_owned()]));
    assert_eq!(names(inputs), Some(vec!["%x".to_owned()]));
    let Some(Operand::CodeList(targets)) = first(&all, Opcode::SBR).operand(1) else {
        panic!("it has targets");
    };
    let labels: Vec<_> = targets
        .code()
        .map(|at| match module.directive(at) {
            Some(Directive::Label(label)) => label.name,
            other => panic!("it leads to a label: {other:?}"),
        })
        .collect();
    assert_eq!(labels, ["@first", "@end"]);
}

#[test]
fn directives_of_a_body_stand_in_order() {
    let Some(module) = all() else { return };
    let kernel = module.executables().last().expect("there are some");
    let mut controls = Vec::new();
    let mut variables = Vec::new();
    let mut blocks = 0;
    for entry in kernel.entries() {
        match entry {
            Entry::Directive(Directive::Control(control)) => {
                controls.push((control.kind, control.operands.len()));
            }
            Entry::Directive(Directive::Variable(variable)) => variables.push(variable.name),
            Entry::Directive(Directive::ArgBlockStart(_)) => blocks += 1,
            Entry::Directive(Directive::ArgBlockEnd(_)) => blocks -= 1,
            _ => {}
        }
        assert!((0..=1).contains(&blocks));
    }
    assert_eq!(controls, [(ControlKind::REQUIRED_WORKGROUP_SIZE, 3)]);
    assert_eq!(variables, ["%tile", "%mine", "%x", "%y"]);
    assert_eq!(blocks, 0);
}
