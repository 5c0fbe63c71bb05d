//! Code objects from LLVM IR, by tools that are found when a program finalizes: nothing of LLVM is needed to build.
//!
//! Two tools do it: AMD's code object manager (`libamd_comgr`), a library with a compiler and a linker in it, and a
//! `clang` that knows AMD GPUs, run once as a program. The library comes first because it is several times as fast; the
//! program is isolated from ours and knows newer chips than an old library.

mod clang;
mod comgr;
mod error;

pub use error::{Attempt, Error};

use clang::Clang;
use comgr::Comgr;

/// How to generate code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// `-O0` to `-O3`.
    pub optimisation: u8,
    /// The tools to try, in this order.
    pub tools: Vec<Tool>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            optimisation: 3,
            tools: vec![Tool::Comgr, Tool::Clang],
        }
    }
}

/// A tool that makes code objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tool {
    /// `libamd_comgr.so.2` or `.so.3`.
    Comgr,
    /// `clang-15`, or the newest that is found.
    Clang,
}

impl Tool {
    fn open(self) -> Result<Box<dyn Backend>, Attempt> {
        match self {
            Self::Comgr => Comgr::open().map(|comgr| Box::new(comgr) as Box<dyn Backend>),
            Self::Clang => Clang::find().map(|clang| Box::new(clang) as Box<dyn Backend>),
        }
    }
}

/// A tool that is there.
trait Backend {
    /// Compiles and links a module of textual IR. [`Error::UnknownIsa`] lets another tool try.
    fn compile(&self, ir: &str, isa: &Isa<'_>, optimisation: u8) -> Result<Vec<u8>, Error>;
}

/// The name of an instruction set: `amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-`.
#[derive(Clone, Copy, Debug)]
struct Isa<'a> {
    name: &'a str,
    /// From the processor on.
    target_id: &'a str,
}

/// What all names of instruction sets begin with: architecture, vendor, system, and no environment.
const TRIPLE: &str = "amdgcn-amd-amdhsa";

impl<'a> Isa<'a> {
    fn parse(name: &'a str) -> Result<Self, Error> {
        let target_id = name
            .strip_prefix(TRIPLE)
            .and_then(|rest| rest.strip_prefix("--"))
            .filter(|target| target.starts_with("gfx"))
            .filter(|target| {
                target
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || b":+-".contains(&b))
            });
        target_id
            .map(|target_id| Self { name, target_id })
            .ok_or_else(|| Error::BadIsa(name.to_owned()))
    }
}

/// Compiles and links a module of textual LLVM IR for an instruction set such as `amdgcn-amd-amdhsa--gfx900`.
pub fn compile(ir: &str, isa: &str, options: &Options) -> Result<Vec<u8>, Error> {
    let isa = Isa::parse(isa)?;
    let mut attempts = Vec::new();
    let mut unknown = None;
    for tool in &options.tools {
        let backend = match tool.open() {
            Ok(backend) => backend,
            Err(attempt) => {
                attempts.push(attempt);
                continue;
            }
        };
        match backend.compile(ir, &isa, options.optimisation) {
            Err(error @ Error::UnknownIsa { .. }) => unknown = Some(error),
            other => return other,
        }
    }
    Err(unknown.unwrap_or(Error::NoTool { attempts }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A kernel that stores 7.
    const STORE: &str = r#"target triple = "amdgcn-amd-amdhsa"
define protected amdgpu_kernel void @"&store"(ptr addrspace(1) %p) #0 {
  store i32 7, ptr addrspace(1) %p
  ret void
}
attributes #0 = { nounwind "amdgpu-implicitarg-num-bytes"="0" }
"#;

    fn with(tool: Tool) -> Options {
        Options {
            tools: vec![tool],
            ..Options::default()
        }
    }

    fn has(object: &[u8], text: &str) -> bool {
        object.windows(text.len()).any(|window| window == text.as_bytes())
    }

    #[test]
    fn every_tool_makes_a_code_object() {
        for tool in [Tool::Comgr, Tool::Clang] {
            for isa in ["gfx900", "gfx906", "gfx908", "gfx90a", "gfx90a:sramecc+:xnack-"] {
                let name = format!("amdgcn-amd-amdhsa--{isa}");
                let object = compile(STORE, &name, &with(tool)).expect("the tool is installed");
                assert_eq!(object[..4], *b"\x7fELF", "{tool:?} {isa}");
                assert!(has(&object, "&store.kd") && has(&object, &name), "{tool:?} {isa}");
            }
        }
    }

    #[test]
    fn threads_with_small_stacks_may_compile() {
        let compiled = std::thread::Builder::new()
            .stack_size(64 << 10)
            .spawn(|| {
                [Tool::Comgr, Tool::Clang]
                    .map(|tool| compile(STORE, "amdgcn-amd-amdhsa--gfx900", &with(tool)).is_ok())
            })
            .expect("a thread")
            .join();
        assert_eq!(compiled.expect("it has enough"), [true; 2]);
    }

    #[test]
    fn what_a_tool_says_of_bad_code_is_in_the_error() {
        for tool in [Tool::Comgr, Tool::Clang] {
            let error = compile("define nonsense", "amdgcn-amd-amdhsa--gfx900", &with(tool));
            let Err(Error::Failed { log, .. }) = error else {
                panic!("{tool:?}: {error:?}");
            };
            assert!(log.contains("error"), "{tool:?}: {log}");
        }
    }

    #[test]
    fn a_variable_that_the_executable_defines_stays_open() {
        let ir = STORE.replace("define", "@\"&there\" = external addrspace(1) global i32\ndefine");
        let ir = ir.replace("ptr addrspace(1) %p\n", "ptr addrspace(1) @\"&there\"\n");
        for tool in [Tool::Comgr, Tool::Clang] {
            let object =
                compile(&ir, "amdgcn-amd-amdhsa--gfx900", &with(tool)).expect("open symbols are allowed");
            assert!(has(&object, "&there"), "{tool:?}");
        }
    }

    #[test]
    fn a_chip_that_no_tool_knows_is_named() {
        let error = compile(STORE, "amdgcn-amd-amdhsa--gfx9999", &Options::default());
        let Err(Error::UnknownIsa { isa, .. }) = error else {
            panic!("{error:?}");
        };
        assert_eq!(isa, "amdgcn-amd-amdhsa--gfx9999");
    }

    #[test]
    fn names_that_are_no_isa_never_reach_a_tool() {
        for name in [
            "gfx900",
            "amdgcn-amd-amdhsa--",
            "amdgcn-amd-amdhsa--gfx900 -o/x",
            "x86_64--gfx900",
        ] {
            let error = compile(STORE, name, &Options::default());
            assert!(
                matches!(&error, Err(Error::BadIsa(bad)) if bad == name),
                "{error:?}"
            );
        }
    }

    #[test]
    fn without_tools_the_error_names_both() {
        let attempts = vec![
            Attempt::new("libamd_comgr.so.2, libamd_comgr.so.3", "not found".to_owned()),
            Attempt::new("clang-15", "not found".to_owned()),
        ];
        let text = Error::NoTool { attempts }.to_string();
        assert!(
            text.contains("libamd_comgr.so.3") && text.contains("clang-15"),
            "{text}"
        );
    }
}
