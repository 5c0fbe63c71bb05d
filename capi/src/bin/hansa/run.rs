//! `hansa run`: starts a program with this runtime in front of any other, and with the backends it is to use.

use crate::arguments::{BackendOptions, RunOptions};
use crate::{compile_cache, fat_binary, machine, presence, stats};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Variables with their values.
pub(crate) type Environment = Vec<(String, OsString)>;

/// The runtime's name for the dynamic linker.
const SONAME: &str = "libhsa-runtime64.so.1";

pub(crate) fn run(options: &RunOptions) -> Result<ExitCode, String> {
    let [program, arguments @ ..] = options.program.as_slice() else {
        return Err("no program is named".to_owned());
    };
    let path = find(program)?;
    check(&path)?;
    let mut environment = environment(&options.backends)?;
    let built_for = fat_binary::targets(&path);
    if presence::is_needed() || !built_for.is_empty() {
        let agents = machine::agents(&environment)?;
        if agents.iter().all(|agent| agent.gpu_isa().is_none()) {
            for message in machine::failures(&environment)? {
                eprintln!("hansa: no GPU: {message}");
            }
        }
        if let Some(isa) = options.backends.isa.as_deref() {
            let is_it =
                |agent: &machine::Agent| agent.gpu_isa().is_some_and(|found| found.processor().name == isa);
            if agents.iter().any(|agent| agent.gpu_isa().is_some()) && !agents.iter().any(is_it) {
                eprintln!("hansa: --isa {isa}: no GPU here is one, nor can the software GPU be");
            }
        }
        if let Some(message) = fat_binary::mismatch(&built_for, &agents) {
            eprintln!("hansa: {}: {message}", path.display());
        }
        add_presence(&mut environment, &agents)?;
    }
    add_compile_cache(&mut environment)?;
    if options.preload {
        add_preload(&mut environment, &library()?);
    }
    let mut command = Command::new(&path);
    command.arg0(program).args(arguments).envs(environment);
    if options.stats || options.stats_json.is_some() {
        return stats::run(command, options);
    }
    // Comes back only when it could not start.
    Err(format!("cannot run {}: {}", path.display(), command.exec()))
}

pub(crate) fn print_environment(options: &BackendOptions) -> Result<ExitCode, String> {
    let mut environment = environment(options)?;
    if presence::is_needed() {
        let agents = machine::agents(&environment)?;
        add_presence(&mut environment, &agents)?;
    }
    add_compile_cache(&mut environment)?;
    for (name, value) in environment {
        println!("{name}={}", value.to_string_lossy());
    }
    Ok(ExitCode::SUCCESS)
}

/// Answers for programs that ask the system first, where they would ask in vain.
fn add_presence(environment: &mut Environment, agents: &[machine::Agent]) -> Result<(), String> {
    if !presence::is_needed() {
        return Ok(());
    }
    match presence::of(agents, &library_directory()?) {
        Ok(Some((library, list))) => {
            add_preload(environment, &library);
            environment.push(("HANSA_PRESENCE".to_owned(), list.into()));
        }
        Ok(None) => {}
        // Most programs do not ask.
        Err(message) => eprintln!("hansa: {message}"),
    }
    Ok(())
}

/// Has code kept that programs compile when they start.
fn add_compile_cache(environment: &mut Environment) -> Result<(), String> {
    if let Some((library, place)) = compile_cache::of(&library_directory()?)? {
        add_preload(environment, &library);
        environment.push((compile_cache::VARIABLE.to_owned(), place));
    }
    Ok(())
}

/// Puts a library before all others of a program.
fn add_preload(environment: &mut Environment, library: &Path) {
    const VARIABLE: &str = "LD_PRELOAD";
    match environment.iter_mut().find(|(name, _)| name == VARIABLE) {
        Some((_, list)) => {
            let mut longer = library.as_os_str().to_owned();
            longer.push(":");
            longer.push(&list);
            *list = longer;
        }
        None => environment.push((VARIABLE.to_owned(), joined(VARIABLE, library.as_os_str()))),
    }
}

/// The variables that a program is started with.
fn environment(options: &BackendOptions) -> Result<Environment, String> {
    let mut variables = vec![(
        "LD_LIBRARY_PATH".to_owned(),
        joined("LD_LIBRARY_PATH", library_directory()?.as_os_str()),
    )];
    if !options.backends.is_empty() {
        variables.push(("HANSA_BACKENDS".to_owned(), options.backends.join(",").into()));
    }
    let isa = options.isa.as_ref().map(|name| format!("backend.sim.isa={name}"));
    let lines: Vec<String> = options
        .settings
        .iter()
        .chain(&isa)
        .map(|setting| line_of(setting))
        .collect::<Result<_, _>>()?;
    if !lines.is_empty() {
        variables.push(("HANSA_SET".to_owned(), lines.join("\n").into()));
    }
    Ok(variables)
}

/// A line of the configuration file for `KEY=VALUE`: a value that is none in TOML is taken as text.
fn line_of(setting: &str) -> Result<String, String> {
    let form = || format!("--set {setting}: the form is KEY=VALUE, such as backend.sim.devices=2");
    let (key, value) = setting.split_once('=').ok_or_else(form)?;
    let (key, value) = (key.trim(), value.trim());
    let valid = key.contains('.')
        && key
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "._-".contains(c));
    if !valid {
        return Err(form());
    }
    let plain =
        value.parse::<i64>().is_ok() || matches!(value, "true" | "false") || value.starts_with(['"', '[']);
    Ok(if plain {
        format!("{key} = {value}")
    } else {
        format!("{key} = {value:?}")
    })
}

/// `first` before what a list variable holds already.
fn joined(variable: &str, first: &OsStr) -> OsString {
    let mut list = first.to_owned();
    if let Some(rest) = std::env::var_os(variable).filter(|v| !v.is_empty()) {
        list.push(":");
        list.push(rest);
    }
    list
}

/// The runtime's shared library.
pub(crate) fn library() -> Result<PathBuf, String> {
    Ok(library_directory()?.join(SONAME))
}

/// The directory of the runtime: beside this command, or in the library directory of its prefix.
fn library_directory() -> Result<PathBuf, String> {
    let command = std::env::current_exe().map_err(|e| format!("cannot find this command's own path: {e}"))?;
    let beside = command.parent().unwrap_or_else(|| Path::new("/")).to_path_buf();
    let prefix = beside.parent().unwrap_or_else(|| Path::new("/")).to_path_buf();
    let triplet = format!("{}-linux-gnu", std::env::consts::ARCH);
    let places = [
        beside.clone(),
        prefix.join("lib").join(&triplet).join("hansa"),
        prefix.join("lib").join(&triplet),
        prefix.join("lib/hansa"),
        prefix.join("lib64"),
        prefix.join("lib"),
    ];
    places
        .iter()
        .find(|place| place.join(SONAME).exists())
        .cloned()
        .ok_or_else(|| {
            format!(
                "{SONAME} is neither in {} nor in a library directory of {}",
                beside.display(),
                prefix.display()
            )
        })
}

/// The file of a program, looked up as a shell does.
fn find(program: &OsStr) -> Result<PathBuf, String> {
    let path = PathBuf::from(program);
    let name = program.to_string_lossy();
    if name.contains('/') {
        return if path.exists() {
            Ok(path)
        } else {
            Err(format!("{name}: no such file"))
        };
    }
    std::env::var_os("PATH")
        .iter()
        .flat_map(std::env::split_paths)
        .map(|directory| directory.join(&path))
        .find(|candidate| candidate.is_file())
        .ok_or_else(|| format!("{name}: not found in PATH"))
}

/// Says in one line why a file cannot run on this runtime, where that can be seen beforehand.
fn check(path: &Path) -> Result<(), String> {
    let shown = path.display();
    let mut header = Vec::new();
    let file = File::open(path).map_err(|e| format!("{shown}: {e}"))?;
    file.take(1 << 20)
        .read_to_end(&mut header)
        .map_err(|e| format!("{shown}: {e}"))?;
    if let Some(line) = header.strip_prefix(b"#!") {
        return check_interpreter(path, line);
    }
    use hansa_core::elf_kind::{kind_of, ElfKind};
    match kind_of(&header) {
        ElfKind::Dynamic => Ok(()),
        ElfKind::Static => Err(format!(
            "{shown} is statically linked: no other runtime can be put in front of it"
        )),
        ElfKind::OtherMachine(machine) => Err(format!(
            "{shown} is for another machine ({machine}); this runtime is for {}",
            std::env::consts::ARCH
        )),
        ElfKind::NotElf => Err(format!("{shown} is neither a program nor a script")),
    }
}

/// A script's interpreter, from what follows `#!`: the kernel would say of a script that it is not there.
fn check_interpreter(script: &Path, line: &[u8]) -> Result<(), String> {
    let line = line.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let name = line
        .split(|byte| byte.is_ascii_whitespace())
        .find(|word| !word.is_empty())
        .unwrap_or_default();
    let interpreter = Path::new(OsStr::from_bytes(name));
    File::open(interpreter).map(|_| ()).map_err(|error| {
        format!(
            "{}: its interpreter {}: {error}",
            script.display(),
            interpreter.display()
        )
    })
}
