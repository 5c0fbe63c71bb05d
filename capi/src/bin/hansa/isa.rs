//! `hansa isa`: how much of an instruction set the software GPU executes, and what code objects contain.

use crate::arguments::IsaAction;
use crate::fat_binary;
use hansa_core::loader::CodeObject;
use hansa_sim::exec::is_implemented;
use hansa_sim::isa::{disassemble, rows_of, Family, Target};
use object::read::elf::ElfFile64;
use object::{LittleEndian, Object as _, ObjectSection as _, ObjectSymbol as _, SectionKind};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::ExitCode;

pub(crate) fn run(action: &IsaAction) -> Result<ExitCode, String> {
    match action {
        IsaAction::Coverage {
            target,
            missing,
            output,
        } => coverage(target.as_deref(), *missing, output.json)?,
        IsaAction::Disasm { file, target } => disasm(file, target.as_deref())?,
    }
    Ok(ExitCode::SUCCESS)
}

fn targets(name: Option<&str>) -> Result<Vec<Target>, String> {
    let Some(name) = name else {
        return Ok(Target::ALL.to_vec());
    };
    let known = Target::ALL.map(Target::name).join(", ");
    let target = Target::from_name(name).ok_or_else(|| format!("{name:?} is none of {known}"))?;
    Ok(vec![target])
}

/// What is executed of the opcodes of a target.
#[derive(Debug, Serialize)]
struct Coverage {
    target: &'static str,
    implemented: usize,
    all: usize,
    families: Vec<FamilyCoverage>,
}

#[derive(Debug, Serialize)]
struct FamilyCoverage {
    name: &'static str,
    implemented: usize,
    all: usize,
    missing: Vec<&'static str>,
}

impl Coverage {
    /// From the decoder's tables and the engine's.
    fn of(target: Target) -> Self {
        let families: Vec<FamilyCoverage> = Family::ALL
            .into_iter()
            .filter_map(|family| {
                let rows: Vec<_> = rows_of(target).filter(|row| row.family == family).collect();
                let missing: Vec<_> = rows
                    .iter()
                    .filter(|row| !is_implemented(row))
                    .map(|row| row.name)
                    .collect();
                (!rows.is_empty()).then(|| FamilyCoverage {
                    name: family.name(),
                    implemented: rows.len() - missing.len(),
                    all: rows.len(),
                    missing,
                })
            })
            .collect();
        let sum = |count: fn(&FamilyCoverage) -> usize| families.iter().map(count).sum();
        Self {
            target: target.name(),
            implemented: sum(|family| family.implemented),
            all: sum(|family| family.all),
            families,
        }
    }
}

fn coverage(target: Option<&str>, missing: bool, json: bool) -> Result<(), String> {
    let all: Vec<Coverage> = targets(target)?.into_iter().map(Coverage::of).collect();
    if json {
        println!(
            "{}",
            serde_json::to_string_pretty(&all).map_err(|error| error.to_string())?
        );
        return Ok(());
    }
    for coverage in &all {
        println!(
            "{}: {} of {} opcodes",
            coverage.target, coverage.implemented, coverage.all
        );
        for family in &coverage.families {
            println!("  {:8} {:4} of {:4}", family.name, family.implemented, family.all);
            if missing && !family.missing.is_empty() {
                println!("           missing: {}", family.missing.join(", "));
            }
        }
    }
    Ok(())
}

fn disasm(path: &Path, target: Option<&str>) -> Result<(), String> {
    let wanted = targets(target)?;
    let shown = path.display();
    let data = std::fs::read(path).map_err(|error| format!("{shown}: {error}"))?;
    let objects = fat_binary::code_objects(&data);
    let mut out = io::BufWriter::new(io::stdout().lock());
    let mut others = BTreeMap::new();
    let mut count = 0;
    for object in objects {
        let (isa, target) = target_of(object).map_err(|error| format!("{shown}: {error}"))?;
        match target.filter(|target| wanted.contains(target)) {
            Some(target) => {
                count += 1;
                match listing(&mut out, &isa, target, object) {
                    // Nobody reads any more.
                    Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
                    result => result.map_err(|error| format!("{shown}: {error}"))?,
                }
            }
            None => *others.entry(isa).or_insert(0) += 1,
        }
    }
    if count > 0 {
        return out.flush().map_err(|error| error.to_string());
    }
    let known = wanted
        .iter()
        .map(|target| target.name())
        .collect::<Vec<_>>()
        .join(", ");
    let found: Vec<String> = others.into_keys().collect();
    Err(match found.as_slice() {
        [] => format!("{shown} is neither an AMDGPU code object nor does it have some"),
        _ => format!(
            "{shown} has code objects for {}, and none for {known}",
            found.join(", ")
        ),
    })
}

/// The instruction set of a code object, and the target that decodes it.
fn target_of(data: &[u8]) -> Result<(String, Option<Target>), String> {
    let object = CodeObject::parse(data).map_err(|error| error.to_string())?;
    let isa = object.target().isa;
    Ok((isa.to_string(), Target::from_name(isa.processor().name)))
}

/// Code by symbols, as people know it from other disassemblers.
fn listing(out: &mut impl io::Write, isa: &str, target: Target, data: &[u8]) -> io::Result<()> {
    writeln!(out, "; {isa}")?;
    let Ok(file) = ElfFile64::<LittleEndian>::parse(data) else {
        return writeln!(out, "; no ELF file that can be read");
    };
    let mut names: BTreeMap<u64, Vec<&str>> = BTreeMap::new();
    for symbol in file.symbols().chain(file.dynamic_symbols()) {
        let name = symbol.name().unwrap_or_default();
        let at = names.entry(symbol.address()).or_default();
        if !name.is_empty() && !at.contains(&name) {
            at.push(name);
        }
    }
    for section in file
        .sections()
        .filter(|section| section.kind() == SectionKind::Text)
    {
        let Ok(code) = section.data() else {
            continue;
        };
        for line in disassemble(target, code, section.address()) {
            for name in names.get(&line.pc).into_iter().flatten() {
                writeln!(out, "\n{:016x} <{name}>:", line.pc)?;
            }
            writeln!(out, "{:12x}: {}", line.pc, line.text)?;
        }
    }
    writeln!(out)
}
