//! HSAIL to LLVM IR, as text (opaque pointers, which LLVM 15 and later read).
//!
//! A whole program becomes one module of IR: its kernels, its indirect functions, and the functions that these call.
//! Registers become memory of the function, which LLVM makes values of; labels become blocks; operations become what
//! `instruction` leads to. What is not done here is refused with the kernel and the instruction; nothing is translated
//! into something else.
//!
//! | HSAIL | IR |
//! |---|---|
//! | kernel `&k` | `amdgpu_kernel` with its arguments in one structure by reference; no hidden ones |
//! | function | `internal` function; scalars by value, arrays by the address of the caller's variable |
//! | global, readonly | address spaces 1 and 4, visible to the host under HSAIL's name |
//! | group | address space 3 |
//! | private, spill, arg | memory of the function, address space 5 |

mod arithmetic;
mod atomic;
mod bits;
mod builder;
mod compare;
mod control;
mod convert;
mod dispatch;
mod error;
mod fbarrier;
mod float;
mod function;
mod globals;
mod helpers;
mod image;
mod instruction;
mod integer;
mod lanes;
mod memory;
mod misc;
mod moves;
mod multimedia;
mod names;
mod operand;
mod packed;
mod queue;
mod reach;
mod rounding;
mod segments;
mod signal;
mod ty;

pub use error::Error;

pub(crate) use reach::reachable;

use crate::brig::MachineModel;
use crate::program::{Linked, Target};
use function::{Function, Unit};
use globals::{Globals, PrivateFrame};
use std::collections::BTreeSet;
use std::fmt::Write;

/// What IR says of GFX9: sizes and alignments of pointers and vectors; later versions of LLVM add to it by themselves.
const HEAD: &str =
    "target datalayout = \"e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-i64:64-v16:16-\
v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7\"\n\
target triple = \"amdgcn-amd-amdhsa\"\n";

/// No hidden arguments, and subnormal numbers are kept; flushing is done where an instruction asks for it.
const ATTRIBUTES: &str = "attributes #0 = { nounwind \"amdgpu-implicitarg-num-bytes\"=\"0\" \
\"denormal-fp-math\"=\"ieee,ieee\" \"denormal-fp-math-f32\"=\"ieee,ieee\" \"uniform-work-group-size\"=\"false\" }\n\
attributes #1 = { nounwind \"denormal-fp-math\"=\"ieee,ieee\" \"denormal-fp-math-f32\"=\"ieee,ieee\" }\n\
!0 = !{}\n";

/// Translates a program for a target.
pub fn module(linked: &Linked, target: &Target) -> Result<String, Error> {
    // LLVM ends the process where it has no instruction for something; older chips lack some, newer ones are not known.
    let known = ["gfx90", "gfx94", "gfx10"];
    if !known
        .iter()
        .any(|chips| target.isa.contains(&format!("--{chips}")))
    {
        return Err(Error::Target(target.isa.clone()));
    }
    for module in linked.modules() {
        if module.facts().machine_model != MachineModel::LARGE {
            return Err(Error::Module {
                module: module.facts().name.to_owned(),
                what: "addresses of this process have 64 bits, its machine model has 32".to_owned(),
            });
        }
    }
    let unit = Unit {
        linked,
        target,
        frame: PrivateFrame::new(linked)?,
    };
    let mut globals = Globals::new(linked)?;
    let mut functions = String::new();
    let mut declarations: BTreeSet<String> = BTreeSet::new();
    let mut needed = BTreeSet::new();
    for symbol in reachable(linked)? {
        let translated = Function::translate(&unit, &mut globals, symbol)?;
        functions.push_str(&translated.text);
        declarations.extend(translated.declarations);
        needed.extend(translated.helpers);
    }
    let (helpers, declared) = helpers::texts(needed.into_iter(), target.wavefront);
    declarations.extend(declared.into_iter().map(str::to_owned));
    let mut text = HEAD.to_owned();
    for line in globals.lines().chain(declarations) {
        // Writing to a string does not fail.
        let _ = writeln!(text, "{line}");
    }
    text.push_str(&functions);
    text.extend(helpers);
    text.push_str(ATTRIBUTES);
    Ok(text)
}
