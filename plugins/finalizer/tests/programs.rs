//! Which modules make a program.

mod assembler;

use assembler::assemble;
use hansa_finalizer::brig::{MachineModel, Module, Profile, Round};
use hansa_finalizer::program::{AddError, Conflict, Linked, Program, Settings, Symbol};

const SETTINGS: Settings = Settings {
    machine_model: MachineModel::LARGE,
    profile: Profile::FULL,
    rounding: Round::DEFAULT,
};

fn module(header: &str, body: &str) -> Option<Module> {
    let text = format!("module &m:1:0:{header};\n{body}\n");
    assemble(&text).map(|bytes| Module::parse(bytes).expect("HSAILasm writes valid BRIG"))
}

/// Adds modules of the usual header, one after the other; the answer is what the last addition gave.
fn add(bodies: &[&str]) -> Option<Result<(), AddError>> {
    let mut program = Program::new(SETTINGS);
    let mut last = Ok(());
    for (address, body) in bodies.iter().enumerate() {
        assert_eq!(last, Ok(()));
        last = program.add(address as u64, module("$full:$large:$default", body)?);
    }
    Some(last)
}

#[test]
fn the_settings_must_be_those_of_the_program() {
    for (header, what) in [
        ("$full:$large:$default", None),
        ("$base:$large:$default", Some("profile")),
        ("$full:$small:$default", Some("machine model")),
        ("$full:$large:$zero", Some("default rounding")),
        ("$full:$large:$near", Some("default rounding")),
    ] {
        let Some(module) = module(header, "prog kernel &k() { ret; };") else {
            return;
        };
        let mut program = Program::new(SETTINGS);
        let expected = what.map_or(Ok(()), |what| Err(AddError::Incompatible { what }));
        assert_eq!(program.add(1, module), expected, "{header}");
        assert_eq!(program.modules().len(), usize::from(what.is_none()), "{header}");
    }
    let Some(full) = module("$full:$large:$default", "prog kernel &k() { ret; };") else {
        return;
    };
    let mut base = Program::new(Settings {
        profile: Profile::BASE,
        ..SETTINGS
    });
    assert_eq!(base.add(1, full), Ok(()));
    let Some(open) = module("$full:$large:$default", "prog kernel &k() { ret; };") else {
        return;
    };
    let mut zero = Program::new(Settings {
        rounding: Round::ZERO,
        ..SETTINGS
    });
    assert_eq!(zero.add(1, open), Ok(()));
}

#[test]
fn a_module_comes_once() {
    let Some(module) = module("$full:$large:$default", "") else {
        return;
    };
    let mut program = Program::new(SETTINGS);
    let again = Module::parse(module.bytes().to_vec()).expect("it was good before");
    assert_eq!(program.add(7, module), Ok(()));
    assert_eq!(program.add(7, again), Err(AddError::Included));
    assert_eq!(program.addresses().collect::<Vec<_>>(), [7]);
}

#[test]
fn symbols_of_the_program_must_agree() {
    let kernel = "prog kernel &k(kernarg_u64 %a) { ret; };";
    for (one, other, conflict) in [
        (kernel, kernel, Conflict::DefinedTwice),
        (
            kernel,
            "decl prog kernel &k(kernarg_u32 %a)();",
            Conflict::Arguments,
        ),
        (kernel, "decl prog function &k()(arg_u64 %a);", Conflict::Kind),
        (kernel, "prog global_u32 &k;", Conflict::DefinedTwice),
        ("prog global_u32 &v;", "decl prog global_s32 &v;", Conflict::Type),
        (
            "prog global_u32 &v[4];",
            "decl prog global_u32 &v[5];",
            Conflict::Type,
        ),
        (
            "prog global_u32 &v;",
            "decl prog readonly_u32 &v;",
            Conflict::Qualifiers,
        ),
        (
            "prog global_u32 &v;",
            "decl prog align(8) global_u32 &v;",
            Conflict::Qualifiers,
        ),
    ] {
        // HSAILasm has its own opinion of declarations with a body.
        let other = other.replace(")();", ");");
        let Some(added) = add(&[one, &other]) else { return };
        let Err(AddError::Symbol { conflict: found, .. }) = added else {
            panic!("{one} and {other} agree: {added:?}");
        };
        assert_eq!(found, conflict, "{one} and {other}");
    }
}

#[test]
fn what_agrees_is_one_symbol() {
    for bodies in [
        [
            "prog kernel &k(kernarg_u64 %a) { ret; };",
            "decl prog kernel &k(kernarg_u64 %other);",
        ],
        ["prog global_u32 &v[4];", "decl prog global_u32 &v[];"],
        ["decl prog function &f()();", "prog function &f()() { ret; };"],
        // Each module has its own.
        ["kernel &k() { ret; };", "kernel &k(kernarg_u32 %a) { ret; };"],
        ["group_u32 &v;", "prog global_u64 &v;"],
    ] {
        let Some(added) = add(&bodies) else { return };
        assert_eq!(added, Ok(()), "{bodies:?}");
    }
}

#[test]
fn a_failed_addition_changes_nothing() {
    let good = "prog function &f()() { ret; };";
    let bad = "prog function &g()() { ret; };\nprog function &f()() { ret; };";
    let mut program = Program::new(SETTINGS);
    let full = "$full:$large:$default";
    let Some(first) = module(full, good) else { return };
    assert_eq!(program.add(1, first), Ok(()));
    let Some(second) = module(full, bad) else { return };
    assert!(program.add(2, second).is_err());
    // What the refused module defined is free.
    let Some(third) = module(full, "prog function &g()() { ret; };") else {
        return;
    };
    assert_eq!(program.add(2, third), Ok(()));
    assert_eq!(program.modules().len(), 2);
}

#[test]
fn a_declaration_stands_for_the_definition_of_another_module() {
    let mut program = Program::new(SETTINGS);
    let full = "$full:$large:$default";
    let Some(declares) = module(full, "decl prog function &f()();\ndecl prog global_u32 &nowhere;") else {
        return;
    };
    let Some(defines) = module(full, "prog function &f()() { ret; };") else {
        return;
    };
    assert_eq!(program.add(1, declares), Ok(()));
    assert_eq!(program.add(2, defines), Ok(()));
    let linked = Linked::new(program.modules(), SETTINGS);
    let symbol = |module: usize| {
        let executable = linked.modules()[module]
            .executables()
            .next()
            .expect("there is one");
        Symbol {
            module,
            at: executable.at,
        }
    };
    assert_eq!(linked.definition(symbol(0)), symbol(1));
    assert_eq!(linked.definition(symbol(1)), symbol(1));
    let nowhere = linked.modules()[0].variables().next().expect("there is one");
    let nowhere = Symbol {
        module: 0,
        at: nowhere.at,
    };
    assert_eq!(linked.definition(nowhere), nowhere);
}
