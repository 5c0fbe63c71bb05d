//! What the result of an action follows from, as one number; and the actions that are left to the compiler.
//!
//! The rules err to one side: what might depend on anything that is not in the number is compiled.

use crate::comgr::{self, Actions, Comgr, Facts, Handle, KINDS, KIND_INCLUDE, KIND_SOURCE};
use crate::target;
use core::ffi::c_int;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// OpenCL C 1.2 and 2.0, whose compilation takes no device libraries from the machine; HIP's does.
const OPENCL: core::ops::RangeInclusive<c_int> = 1..=2;

/// Words in a source that bring in other files, or the time.
const NOT_ALONE: [&[u8]; 6] = [b"include", b"import", b"embed", b"incbin", b"__DATE__", b"__TIME"];

/// How the names of variables begin that change what a compiler does.
const VARIABLES: [&str; 2] = ["AMD_COMGR_", "CCC_OVERRIDE_OPTIONS"];

/// What the compiler consists of, by the beginnings of the files' names.
const PARTS: [&str; 4] = ["libamd_comgr", "libLLVM", "libclang", "liblld"];

/// The number of what an action's result follows from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key(blake3::Hash);

impl Key {
    /// Of an action; nothing for one that the compiler has to do.
    pub(crate) fn of(comgr: &Comgr, kind: c_int, info: Handle, input: Handle) -> Option<Self> {
        if std::env::vars_os().any(|(name, _)| changes_compilers(&name)) {
            return None;
        }
        let facts = comgr.facts(info)?;
        if !may_be_kept(comgr.actions, kind, &facts) {
            return None;
        }
        let mut hash = blake3::Hasher::new();
        for part in compiler() {
            add(&mut hash, part.as_bytes());
        }
        add(&mut hash, &kind.to_le_bytes());
        add(&mut hash, &target::of(info)?);
        add(&mut hash, &facts.language.to_le_bytes());
        add(&mut hash, &[facts.logging.into()]);
        add(&mut hash, &facts.options.len().to_le_bytes());
        for option in &facts.options {
            add(&mut hash, option);
        }
        for kind in KINDS {
            let count = comgr.count(input, kind).unwrap_or(0);
            add(&mut hash, &count.to_le_bytes());
            for index in 0..count {
                let (name, data) = comgr.object(input, kind, index)?;
                if [KIND_SOURCE, KIND_INCLUDE].contains(&kind) && !is_alone(&data) {
                    return None;
                }
                add(&mut hash, &name);
                add(&mut hash, &data);
            }
        }
        Some(Self(hash.finalize()))
    }

    /// As the name of a file.
    pub(crate) fn name(&self) -> String {
        self.0.to_hex().to_string()
    }
}

/// Adds one item so that items cannot run into each other.
fn add(hash: &mut blake3::Hasher, item: &[u8]) {
    hash.update(&item.len().to_le_bytes());
    hash.update(item);
}

fn changes_compilers(variable: &OsStr) -> bool {
    VARIABLES
        .iter()
        .any(|name| variable.as_bytes().starts_with(name.as_bytes()))
}

/// Whether the result of an action follows from its data and its facts.
fn may_be_kept(actions: &Actions, kind: c_int, facts: &Facts) -> bool {
    let compiled = actions.compile.contains(&kind) && OPENCL.contains(&facts.language);
    let by_data = compiled || actions.of_bitcode.contains(&kind);
    by_data && facts.options.iter().all(|option| names_no_file(option))
}

/// Whether options cannot name a file or a directory, nor ask for what is around to be written down (`-g`: the current
/// directory). One text may hold several.
fn names_no_file(options: &[u8]) -> bool {
    options
        .split(|byte| byte.is_ascii_whitespace() || *byte == 0)
        .all(|option| {
            let has = |word: &[u8]| option.windows(word.len()).any(|part| part == word);
            !(option.contains(&b'/')
                || option.starts_with(b"@")
                || option.starts_with(b"-g")
                || option.starts_with(b"-I")
                || option.starts_with(b"-fplugin")
                || option.starts_with(b"--config")
                || option.starts_with(b"-load")
                || has(b"include")
                || has(b"profile")
                || has(b"save-temps"))
        })
}

/// Whether a source needs nothing but itself.
fn is_alone(source: &[u8]) -> bool {
    !NOT_ALONE
        .iter()
        .any(|word| source.windows(word.len()).any(|part| part == *word))
}

/// The files of the compiler that this process has, each with what changes when another takes its place.
fn compiler() -> Vec<String> {
    let mut found: Vec<String> = comgr::objects()
        .iter()
        .map(|path| Path::new(OsStr::from_bytes(path.to_bytes())))
        .filter(|path| {
            let file = path.file_name().unwrap_or_default().as_bytes();
            PARTS.iter().any(|part| file.starts_with(part.as_bytes()))
        })
        .map(identity)
        .collect();
    found.sort_unstable();
    found
}

fn identity(path: &Path) -> String {
    std::fs::metadata(path).map_or_else(
        |_| path.display().to_string(),
        |file| {
            format!(
                "{} {} {}.{} {}.{}",
                path.display(),
                file.len(),
                file.mtime(),
                file.mtime_nsec(),
                file.ctime(),
                file.ctime_nsec()
            )
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(language: c_int, options: &[&str]) -> Facts {
        Facts {
            language,
            options: options.iter().map(|option| option.as_bytes().to_vec()).collect(),
            ..Facts::default()
        }
    }

    #[test]
    fn what_reads_files_is_left_to_the_compiler() {
        let plain = ["-O3 -cl-std=CL1.2", "-mcode-object-version=4"];
        let kept = |version: usize, kind, facts: &Facts| {
            let (_, actions) = &comgr::ACTIONS[version - 2];
            may_be_kept(actions, kind, facts)
        };
        // Left out: preprocessing, precompiled headers, device libraries of the machine, assembling, disassembling, and what
        // does several steps at once; in version 3 unbundling and SPIR-V.
        for (version, kinds) in [(2, &[2, 4, 5, 6, 7, 8, 9][..]), (3, &[2, 3, 4, 5, 6, 7, 12])] {
            for kind in 0..0x20 {
                assert_eq!(
                    kept(version, kind, &facts(1, &plain)),
                    kinds.contains(&kind),
                    "{version}: {kind}"
                );
            }
        }
        // HIP, and no language.
        for language in [0, 3, 4] {
            assert!(!kept(2, 2, &facts(language, &plain)), "{language}");
            assert!(kept(2, 6, &facts(language, &plain)), "{language}");
        }
        for option in [
            "-O2 -I.",
            "-include x.h",
            "@more",
            "-Xclang -load",
            "-fprofile-use=x",
            "-g",
            "-L/lib",
            "--save-temps",
        ] {
            assert!(!kept(2, 6, &facts(1, &["-O3", option])), "{option}");
        }
    }

    #[test]
    fn a_source_that_is_not_alone_is_left_to_the_compiler() {
        assert!(is_alone(b"kernel void f(global int *p) { *p = 1; }"));
        assert!(is_alone(b""));
        for source in [
            "# include <x>",
            "#import \"x\"",
            "int t = __TIME__;",
            "asm(\".incbin x\")",
            "#embed <x>",
        ] {
            assert!(!is_alone(source.as_bytes()), "{source}");
        }
    }

    #[test]
    fn items_do_not_run_into_each_other() {
        let of = |items: &[&[u8]]| {
            let mut hash = blake3::Hasher::new();
            items.iter().for_each(|item| add(&mut hash, item));
            hash.finalize()
        };
        assert_ne!(of(&[b"ab", b"c"]), of(&[b"a", b"bc"]));
        assert_ne!(of(&[b"ab"]), of(&[b"ab", b""]));
        assert_eq!(of(&[b"ab", b"c"]), of(&[b"ab", b"c"]));
    }

    #[test]
    fn variables_of_compilers_are_known_by_name() {
        assert!(changes_compilers(OsStr::new("AMD_COMGR_SAVE_TEMPS")));
        assert!(changes_compilers(OsStr::new("CCC_OVERRIDE_OPTIONS")));
        assert!(!changes_compilers(OsStr::new("HOME")));
    }
}
