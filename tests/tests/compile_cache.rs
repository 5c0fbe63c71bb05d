//! Code that programs compile when they start, kept by `hansa run`: Debian's HIP compiles four steps for its own kernels.

use hansa_tests::artifacts::scratch_dir;
use hansa_tests::c_client::{repository, Client};
use hansa_tests::command::{self, text};
use hansa_tests::hip_client::{self, Build};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

/// A user's directory for what can be made again, empty.
fn cache(name: &str) -> PathBuf {
    let directory = scratch_dir("compile-cache").join(name);
    if directory.exists() {
        fs::remove_dir_all(&directory).expect("it is this test's own");
    }
    directory
}

/// A program under `hansa run`, with that directory.
fn under(cache: &Path, program: &Path) -> Command {
    let mut command = command::hansa("compile-cache-home", &["run", "--"]);
    command.arg(program).env("XDG_CACHE_HOME", cache);
    command
}

/// Runs a HIP program, which must be content.
fn passes(command: &mut Command) -> String {
    let shown = text(&command.output().expect("the command was built"));
    assert!(shown.contains(" passed, 0 failed\n"), "{shown}");
    shown
}

/// What is kept: names with contents.
fn kept(cache: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let Ok(entries) = fs::read_dir(cache.join("hansa/compiled")) else {
        return BTreeMap::new();
    };
    entries
        .map(|entry| {
            let path = entry.expect("a readable directory").path();
            let bytes = fs::read(&path).expect("a readable file");
            (path, bytes)
        })
        .collect()
}

/// Makes files look a day old.
fn age(files: &BTreeMap<PathBuf, Vec<u8>>) {
    let yesterday = SystemTime::now() - Duration::from_secs(24 * 3600);
    for path in files.keys() {
        let file = File::options().write(true).open(path).expect("it was listed");
        file.set_modified(yesterday).expect("it is ours");
    }
}

/// Files that were used since they were made to look old.
fn used(files: &BTreeMap<PathBuf, Vec<u8>>) -> usize {
    let hour = SystemTime::now() - Duration::from_secs(3600);
    let is_young = |path: &&PathBuf| {
        let modified = fs::metadata(path).and_then(|file| file.modified());
        modified.expect("it is there") > hour
    };
    files.keys().filter(is_young).count()
}

fn memset() -> PathBuf {
    hip_client::program("memset", Build::of("gfx900"))
}

#[test]
fn the_second_start_compiles_nothing() {
    if !hip_client::ready() {
        return;
    }
    let cache = cache("twice");
    let first = passes(&mut under(&cache, &memset()));
    let files = kept(&cache);
    assert_eq!(files.len(), 4, "compiled, linked, generated, linked");
    age(&files);
    assert_eq!(passes(&mut under(&cache, &memset())), first);
    assert_eq!(used(&files), 4);
    assert_eq!(kept(&cache), files);
    // For another device most of it is another.
    let mut other = under(&cache, &hip_client::program("memset", Build::of("gfx906")));
    passes(other.env("HANSA_SET", "backend.sim.isa = \"gfx906\""));
    let more = kept(&cache);
    assert!(more.len() > 4 && files.iter().all(|(path, bytes)| more.get(path) == Some(bytes)));
}

#[test]
fn code_that_the_program_brings_is_generated_once() {
    if !hip_client::ready() {
        return;
    }
    let (cache, program) = (cache("rtc"), hip_client::program("rtc", Build::of("gfx900")));
    let first = passes(&mut under(&cache, &program));
    let files = kept(&cache);
    age(&files);
    assert_eq!(passes(&mut under(&cache, &program)), first);
    // All of HIP's own, and the last two steps of the program's: the others read the machine's headers.
    assert!(used(&files) >= 6, "{} of {}", used(&files), files.len());
}

#[test]
fn damaged_files_are_compiled_again() {
    if !hip_client::ready() {
        return;
    }
    let cache = cache("damaged");
    passes(&mut under(&cache, &memset()));
    let files = kept(&cache);
    for (number, (path, bytes)) in files.iter().enumerate() {
        let mut bad = bytes.clone();
        match number % 3 {
            0 => bad.truncate(bytes.len() / 2),
            1 => bad.clear(),
            _ => bad[bytes.len() - 1] ^= 1,
        }
        fs::write(path, bad).expect("it is ours");
    }
    passes(&mut under(&cache, &memset()));
    let again = kept(&cache);
    assert!(again.len() >= files.len());
    assert!(again.iter().any(|(path, bytes)| files.get(path) == Some(bytes)));
    passes(&mut under(&cache, &memset()));
}

#[test]
fn nothing_is_kept_where_that_is_not_wanted() {
    if !hip_client::ready() {
        return;
    }
    let cache = cache("none");
    passes(under(&cache, &memset()).env("HANSA_COMPILE_CACHE", ""));
    // Who asks the compiler to show its work wants to see it.
    passes(under(&cache, &memset()).env("AMD_COMGR_EMIT_VERBOSE_LOGS", "1"));
    assert!(kept(&cache).is_empty());
}

#[test]
fn a_place_that_cannot_be_is_named() {
    let cache = cache("place");
    let mut relative = under(&cache, Path::new("true"));
    let output = relative.env("HANSA_COMPILE_CACHE", "here").output();
    let output = output.expect("the command was built");
    assert!(!output.status.success());
    assert!(
        text(&output).contains("HANSA_COMPILE_CACHE=here"),
        "{}",
        text(&output)
    );
    if !hip_client::ready() {
        return;
    }
    let shown = passes(under(&cache, &memset()).env("HANSA_COMPILE_CACHE", "/dev/null/here"));
    let lines = shown
        .lines()
        .filter(|line| line.contains("compiled code is not kept in /dev/null/here"));
    assert_eq!(lines.count(), 1, "{shown}");
}

/// Programs that are linked with the code object manager, and libraries that are and were opened by a program that is not.
#[test]
fn who_is_linked_with_the_compiler_finds_its_code_again() {
    const MANAGER: &str = "-l:libamd_comgr.so.2";
    if !hip_client::ready() {
        return;
    }
    let cache = cache("linked");
    let directory = scratch_dir("compile-cache-linked");
    let source = repository().join("tests/clients/load/compiles.c");
    let build = |name: &str, arguments: &[&str]| {
        let program = directory.join(name);
        let compiler = Client::new("gcc", "c", "gnu11").argument("-Wl,--no-as-needed");
        arguments
            .iter()
            .fold(compiler, |compiler, argument| compiler.argument(argument))
            .compile(&source, &program)
            .unwrap_or_else(|error| panic!("{error}"));
        program
    };
    let linked = build("linked", &[MANAGER]);
    let library = build("liblinked.so", &[MANAGER, "-shared", "-fPIC"]);
    let opens = build("opens", &[&format!("-DOPENS=\"{}\"", library.display())]);
    let compiled = |program: &Path, arguments: &[&str]| {
        let output = under(&cache, program).args(arguments).output();
        let output = output.expect("the command was built");
        assert!(output.status.success(), "{}", text(&output));
        text(&output)
    };
    let kernel = "kernel void f(global int *p) { *p = 1; }";
    let first = compiled(&linked, &[kernel]);
    assert!(first.starts_with("1 object, "), "{first}");
    assert_eq!(compiled(&linked, &[kernel]), first);
    assert_eq!(compiled(&opens, &[kernel]), first);
    // Another source, one that reads what is around, and one in a directory of its own.
    assert_ne!(
        compiled(&linked, &["kernel void f(global int *p) { *p = 2; }"]),
        first
    );
    for arguments in [&["constant int t = 1; /* __TIME__ */"][..], &[kernel, "/tmp"]] {
        assert_ne!(compiled(&linked, arguments), compiled(&linked, arguments));
    }
    assert_eq!(kept(&cache).len(), 2);
}

/// What finds the compiler's functions leaves all other look-ups as they are.
#[test]
fn other_names_are_found_as_before() {
    let directory = scratch_dir("compile-cache-names");
    let source = repository().join("tests/clients/load/names.c");
    let (library, program) = (directory.join("libfront.so"), directory.join("names"));
    let compiler = || Client::new("gcc", "c", "gnu11");
    let place = directory.display();
    let library_compiler = compiler()
        .argument("-DLIBRARY")
        .argument("-shared")
        .argument("-fPIC");
    let program_compiler = compiler()
        .argument(&format!("-L{place}"))
        .argument(&format!("-Wl,--no-as-needed,-rpath,{place}"))
        .argument("-lfront");
    library_compiler
        .compile(&source, &library)
        .and_then(|()| program_compiler.compile(&source, &program))
        .unwrap_or_else(|error| panic!("{error}"));
    let alone = Command::new(&program).output().expect("it was just compiled");
    let under = under(&cache("names"), &program)
        .output()
        .expect("the command was built");
    assert!(
        alone.status.success() && under.status.success(),
        "{}",
        text(&under)
    );
    assert_eq!(text(&alone), text(&under));
    assert_eq!(text(&alone).lines().count(), 5, "{}", text(&alone));
}
