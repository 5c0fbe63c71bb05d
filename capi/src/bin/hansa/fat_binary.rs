//! What the kernels in a HIP program's file were built for.
//!
//! HIP's compiler puts the code objects of each source file into the section `.hip_fatbin` as a bundle (LLVM's document
//! of clang-offload-bundler): the text `__CLANG_OFFLOAD_BUNDLE__`, the number of entries, and for each of them where it
//! is, how long it is, the length of its name and the name, such as `hipv4-amdgcn-amd-amdhsa--gfx900`. All numbers have 64
//! bits. HIP looks for an entry that fits the device before it asks the runtime for anything; when there is none,
//! it says only that there is no kernel image, so `hansa run` says beforehand what does not fit.

use crate::machine::Agent;
use hansa_core::loader::{compatible, Isa, ObjectTarget};
use object::{Object as _, ObjectSection as _, ReadCache};
use std::fs::File;
use std::path::Path;

const SECTION: &str = ".hip_fatbin";
const MAGIC: &[u8] = b"__CLANG_OFFLOAD_BUNDLE__";
/// Where the name of the target begins in the name of an entry.
const TARGET: &str = "amdgcn-amd-amdhsa--";
/// More than any bundle has.
const MOST_ENTRIES: u64 = 1000;

/// The instruction sets of each bundle in a program. Nothing for a file without bundles.
pub(crate) fn targets(path: &Path) -> Vec<Vec<Isa>> {
    let Ok(file) = File::open(path) else {
        return Vec::new();
    };
    let cache = ReadCache::new(file);
    let Ok(program) = object::File::parse(&cache) else {
        return Vec::new();
    };
    let section = program.section_by_name(SECTION);
    let data = section.and_then(|section| section.data().ok());
    bundles(data.unwrap_or_default())
}

/// What to say when none of the agents can execute one of the bundles.
pub(crate) fn mismatch(bundles: &[Vec<Isa>], agents: &[Agent]) -> Option<String> {
    let gpus: Vec<Isa> = agents.iter().filter_map(Agent::gpu_isa).collect();
    let fits = |object: Isa| {
        let object = ObjectTarget {
            isa: object,
            generic_version: 1,
        };
        gpus.iter().any(|gpu| compatible(object, *gpu).is_ok())
    };
    let bundle = bundles
        .iter()
        .find(|bundle| !bundle.iter().any(|isa| fits(*isa)))?;
    Some(format!(
        "it has kernels for {}, and {}",
        list(bundle),
        if gpus.is_empty() {
            "there is no GPU here".to_owned()
        } else {
            format!("the GPUs here execute {}", list(&gpus))
        }
    ))
}

/// The AMDGPU code objects of a file: the file itself, or those in its bundles.
pub(crate) fn code_objects(data: &[u8]) -> Vec<&[u8]> {
    if is_code_object(data) {
        return vec![data];
    }
    starts(data)
        .filter_map(|start| entries(&start[MAGIC.len()..]).map(|entries| (start, entries)))
        .flat_map(|(start, entries)| entries.into_iter().filter_map(|entry| entry.of(start)))
        .filter(|object| is_code_object(object))
        .collect()
}

fn is_code_object(data: &[u8]) -> bool {
    let kind = object::FileKind::parse(data);
    let machine = data
        .get(18..20)
        .map(|bytes| u16::from_le_bytes([bytes[0], bytes[1]]));
    kind == Ok(object::FileKind::Elf64) && machine == Some(object::elf::EM_AMDGPU.0)
}

/// Names, each once.
fn list(isas: &[Isa]) -> String {
    let mut names: Vec<String> = Vec::new();
    for isa in isas {
        let name = isa.to_string();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.join(", ")
}

/// The instruction sets of each bundle.
fn bundles(data: &[u8]) -> Vec<Vec<Isa>> {
    starts(data)
        .filter_map(|start| entries(&start[MAGIC.len()..]))
        .map(|entries| entries.iter().filter_map(Entry::isa).collect())
        .filter(|isas: &Vec<Isa>| !isas.is_empty())
        .collect()
}

/// The data from the beginning of each bundle on.
fn starts(data: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = data;
    std::iter::from_fn(move || {
        let at = rest.windows(MAGIC.len()).position(|window| window == MAGIC)?;
        let start = &rest[at..];
        rest = &start[MAGIC.len()..];
        Some(start)
    })
}

/// An entry of a bundle.
#[derive(Debug)]
struct Entry<'a> {
    /// From the beginning of the bundle.
    offset: u64,
    size: u64,
    name: &'a str,
}

impl Entry<'_> {
    fn isa(&self) -> Option<Isa> {
        let at = self.name.find(TARGET)?;
        self.name[at..].parse().ok()
    }

    /// Its bytes in a bundle.
    fn of<'a>(&self, bundle: &'a [u8]) -> Option<&'a [u8]> {
        let offset = usize::try_from(self.offset).ok()?;
        bundle.get(offset..)?.get(..usize::try_from(self.size).ok()?)
    }
}

/// The entries of a bundle, from what follows its magic text.
fn entries(mut data: &[u8]) -> Option<Vec<Entry<'_>>> {
    let count = number(&mut data)?;
    let mut entries = Vec::new();
    for _ in 0..count.min(MOST_ENTRIES) {
        let offset = number(&mut data)?;
        let size = number(&mut data)?;
        let length = usize::try_from(number(&mut data)?).ok()?;
        let (name, after) = data.split_at_checked(length)?;
        data = after;
        let name = std::str::from_utf8(name).ok()?;
        entries.push(Entry { offset, size, name });
    }
    Some(entries)
}

fn number(data: &mut &[u8]) -> Option<u64> {
    let (bytes, after) = data.split_first_chunk()?;
    *data = after;
    Some(u64::from_le_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(names: &[&str]) -> Vec<u8> {
        let mut data = MAGIC.to_vec();
        data.extend((names.len() as u64).to_le_bytes());
        for name in names {
            data.extend([4096, 100, name.len() as u64].map(u64::to_le_bytes).concat());
            data.extend(name.as_bytes());
        }
        data.resize(data.len().next_multiple_of(4096), 0);
        data
    }

    fn names(data: &[u8]) -> Vec<Vec<String>> {
        bundles(data)
            .iter()
            .map(|isas| isas.iter().map(Isa::to_string).collect())
            .collect()
    }

    #[test]
    fn every_bundle_names_its_targets() {
        let mut data = made(&[
            "host-x86_64-unknown-linux--",
            "hipv4-amdgcn-amd-amdhsa--gfx900",
            "hipv4-amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-",
        ]);
        data.extend(made(&[
            "host-x86_64-unknown-linux--",
            "hip-amdgcn-amd-amdhsa--gfx906",
        ]));
        assert_eq!(
            names(&data),
            [
                vec![
                    "amdgcn-amd-amdhsa--gfx900",
                    "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-"
                ],
                vec!["amdgcn-amd-amdhsa--gfx906"]
            ]
        );
    }

    #[test]
    fn what_is_broken_is_no_bundle() {
        let whole = made(&["hipv4-amdgcn-amd-amdhsa--gfx900"]);
        for length in 0..MAGIC.len() + 8 + 24 + 31 {
            assert!(bundles(&whole[..length]).is_empty(), "{length} bytes");
        }
        let mut huge = whole;
        huge[MAGIC.len() + 8 + 16] = 0xff;
        huge[MAGIC.len() + 8 + 22] = 0xff;
        assert!(bundles(&huge).is_empty());
        assert!(bundles(&made(&["host-x86_64-unknown-linux--"])).is_empty());
    }

    #[test]
    fn both_sides_of_a_mismatch_are_named() {
        let bundles = bundles(&made(&["hipv4-amdgcn-amd-amdhsa--gfx906"]));
        let gpu = |isa: &str| -> Vec<Agent> {
            let text = format!(r#"[{{"kind":"GPU","isas":["amdgcn-amd-amdhsa--{isa}"]}}]"#);
            serde_json::from_str(&text).unwrap()
        };
        assert_eq!(mismatch(&bundles, &gpu("gfx906:sramecc-:xnack-")), None);
        assert_eq!(mismatch(&[], &[]), None);
        assert_eq!(
            mismatch(&bundles, &gpu("gfx900:xnack-")).as_deref(),
            Some(
                "it has kernels for amdgcn-amd-amdhsa--gfx906, and the GPUs here execute \
                 amdgcn-amd-amdhsa--gfx900:xnack-"
            )
        );
        assert!(mismatch(&bundles, &[]).is_some_and(|text| text.contains("no GPU")));
    }
}
