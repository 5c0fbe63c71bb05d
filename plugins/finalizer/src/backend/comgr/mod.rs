//! AMD's code object manager, opened when it is first needed (its documentation is its header, `amd_comgr.h`).
//!
//! Everything is data in sets: an action reads one set and writes another. Textual IR passes as bitcode, which the library
//! hands to its compiler like a file of it. Numbers of actions differ between the major versions 2 and 3.

mod library;

use hansa_plugin_api::fork::{Lazy, Lock};

use super::error::{Attempt, Error};
use super::{Backend, Isa};
use library::{Action, DataSet, Kind, Library, Status};

/// The library of this process. It is never closed: it holds a compiler with static state.
#[derive(Debug)]
pub(super) struct Comgr {
    library: &'static Library,
}

/// Numbers of the actions of a major version.
#[derive(Clone, Copy, Debug)]
struct Numbers {
    generate: u32,
    link: u32,
}

impl Numbers {
    const fn of(major: usize) -> Option<Self> {
        match major {
            2 => Some(Self { generate: 6, link: 9 }),
            3 => Some(Self { generate: 4, link: 7 }),
            _ => None,
        }
    }
}

impl Comgr {
    pub(super) fn open() -> Result<Self, Attempt> {
        static LIBRARY: Lazy<Result<Library, String>> = Lazy::new(|| {
            let library = Library::open()?;
            match Numbers::of(library.major()) {
                Some(_) => Ok(library),
                None => Err(format!("version {} is not known here", library.major())),
            }
        });
        match &*LIBRARY {
            Ok(library) => Ok(Self { library }),
            Err(reason) => Err(Attempt::new("libamd_comgr.so.2 or .so.3", reason.clone())),
        }
    }

    fn name(&self) -> String {
        format!("libamd_comgr {}", self.library.major())
    }

    fn failed(&self, step: &'static str, status: Status, log: &str) -> Error {
        let said = self.library.text(status);
        Error::Failed {
            tool: self.name(),
            step,
            log: match log.trim_end() {
                "" => said,
                log => format!("{said}: {log}"),
            },
        }
    }

    /// One action on one piece of data, which is to make one piece.
    fn step(&self, step: &Step<'_>, isa: &str, input: &[u8]) -> Result<Vec<u8>, Error> {
        let fail = |status| self.failed(step.name, status, "");
        let action = Action::new(self.library).map_err(fail)?;
        action.set_isa(isa).map_err(|_| Error::UnknownIsa {
            tool: self.name(),
            isa: isa.to_owned(),
        })?;
        action.set_logging().map_err(fail)?;
        action.set_options(step.options).map_err(fail)?;
        let from = DataSet::new(self.library).map_err(fail)?;
        from.add(step.from, step.file, input).map_err(fail)?;
        let to = DataSet::new(self.library).map_err(fail)?;
        let done = action.run(step.number, &from, &to);
        if let Err(status) = done {
            let log = to.first(Kind::Log).ok().flatten().unwrap_or_default();
            return Err(self.failed(step.name, status, &String::from_utf8_lossy(&log)));
        }
        let made = to.first(step.to).map_err(fail)?;
        made.ok_or_else(|| Error::Failed {
            tool: self.name(),
            step: step.name,
            log: "it made nothing".to_owned(),
        })
    }
}

/// An action with what it takes and makes.
struct Step<'a> {
    name: &'static str,
    number: u32,
    options: &'a [String],
    from: Kind,
    file: &'static str,
    to: Kind,
}

/// Held while the library compiles: it keeps the options of its compiler in statics, and two that read them at once end the
/// process.
static COMPILING: Lock<()> = Lock::new(());

/// The stack that a compiler is used to.
const STACK_BYTES: usize = 16 << 20;

impl Backend for Comgr {
    /// On a thread of its own, because those of programs may have small stacks.
    fn compile(&self, ir: &str, isa: &Isa<'_>, optimisation: u8) -> Result<Vec<u8>, Error> {
        std::thread::scope(|scope| {
            let started = std::thread::Builder::new()
                .name("hansa-comgr".to_owned())
                .stack_size(STACK_BYTES)
                .spawn_scoped(scope, || self.compile_here(ir, isa, optimisation));
            let thread = started.map_err(|source| Error::Io {
                tool: self.name(),
                what: "there is no thread for it".to_owned(),
                source,
            })?;
            let ended = thread.join();
            ended.unwrap_or_else(|_| Err(self.failed("compile", Status(1), "it panicked")))
        })
    }
}

impl Comgr {
    fn compile_here(&self, ir: &str, isa: &Isa<'_>, optimisation: u8) -> Result<Vec<u8>, Error> {
        let Some(numbers) = Numbers::of(self.library.major()) else {
            return Err(self.failed("find its actions", Status(1), ""));
        };
        let generate = Step {
            name: "compile",
            number: numbers.generate,
            options: &[format!("-O{optimisation}")],
            from: Kind::Bitcode,
            file: "module.ll",
            to: Kind::Relocatable,
        };
        let link = Step {
            name: "link",
            number: numbers.link,
            options: &[],
            from: Kind::Relocatable,
            file: "module.o",
            to: Kind::Executable,
        };
        let _alone = COMPILING.lock();
        let relocatable = self.step(&generate, isa.name, ir.as_bytes())?;
        self.step(&link, isa.name, &relocatable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_versions_are_not_guessed() {
        assert!(Numbers::of(1).is_none() && Numbers::of(4).is_none());
    }
}
