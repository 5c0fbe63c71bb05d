//! Opening a plugin's library and taking its root module.
//!
//! The library is opened first by our own call, with `RTLD_NOW` so that a missing symbol is known
//! here and not when a program runs into it, with `RTLD_LOCAL` so that it lends its symbols to
//! nobody, and with `RTLD_NODELETE`, as it is never unloaded: threads, `atexit` functions and
//! statics of a plugin outlive every handle.
//!
//! Then `abi_stable` finds the entry header, and the layout of every type that crosses the boundary
//! is compared with ours; see [`super::layout`].

use std::path::Path;

use abi_stable::library::{lib_header_from_path, LibraryError, RootModuleError};
use hansa_plugin_api::PluginModRef;
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

use super::facts::{interface_text, Facts};
use super::layout::check_layout;
use super::reason::Reason;
use crate::config::file::one_line;

/// Opens a library and takes its root module.
///
/// # Errors
///
/// Why it cannot be used.
pub(super) fn open(library: &Path) -> Result<PluginModRef, Reason> {
    // SAFETY: opening a library runs its constructors; whoever put it in a place that only
    // administrators or the user write to answers for them.
    let opened = unsafe { Library::open(Some(library), RTLD_NOW | RTLD_LOCAL | libc::RTLD_NODELETE) };
    let opened = opened.map_err(|error| link_reason(library, &linker_text(&error)))?;
    // Never closed.
    std::mem::forget(opened);
    let header = lib_header_from_path(library).map_err(|error| header_reason(library, &error))?;
    check_layout(header.layout())?;
    // SAFETY: the layouts were just found to agree.
    let module = unsafe { header.unchecked_layout::<PluginModRef>() };
    module.map_err(|error| Reason::WrongHeader {
        message: match error {
            RootModuleError::Returned(error) => format!("its constructor failed: {error}"),
            RootModuleError::Unwound => "its constructor panicked".to_owned(),
        },
    })
}

/// Compares what the root module says with the facts it was chosen by.
///
/// # Errors
///
/// The field that differs.
pub(super) fn check_identity(module: PluginModRef, facts: &Facts) -> Result<(), Reason> {
    let identity = module.identity()();
    let interface = format!("{}.{}", identity.interface_major, identity.interface_minor);
    let fields = [
        ("id", facts.id.clone(), identity.id.into_string()),
        ("kind", facts.kind.code().to_string(), identity.kind.to_string()),
        ("interface", interface_text(facts.interface), interface),
    ];
    for (field, manifest, note) in fields {
        if manifest != note {
            return Err(Reason::NoteDisagrees {
                field: field.to_owned(),
                manifest,
                note,
            });
        }
    }
    Ok(())
}

/// The dynamic linker's own text.
fn linker_text(error: &libloading::Error) -> String {
    match error {
        libloading::Error::DlOpen { source } => source.to_string(),
        other => other.to_string(),
    }
}

/// What the dynamic linker's text means. Its form is glibc's (`elf/dl-load.c`, `elf/dl-lookup.c`,
/// `elf/dl-version.c`): the object concerned, a colon, the message.
fn link_reason(library: &Path, text: &str) -> Reason {
    let own = library.display().to_string();
    if let Some((_, rest)) = text.split_once(": undefined symbol: ") {
        let symbol = rest.split([' ', ',']).next().unwrap_or(rest).to_owned();
        return Reason::MissingSymbol { symbol };
    }
    if let Some((name, _)) = text.split_once(": cannot open shared object file") {
        return if name == own {
            Reason::LibraryUnreadable {
                library: library.to_owned(),
                error: one_line(text),
            }
        } else {
            Reason::MissingLibrary {
                name: name.to_owned(),
            }
        };
    }
    if let Some((library, rest)) = text.split_once(": version `") {
        if let Some((version, _)) = rest.split_once("' not found") {
            return Reason::MissingVersion {
                version: version.to_owned(),
                library: library.to_owned(),
            };
        }
    }
    Reason::LinkFailed {
        message: one_line(text.strip_prefix(&format!("{own}: ")).unwrap_or(text)),
    }
}

fn header_reason(library: &Path, error: &LibraryError) -> Reason {
    match error {
        LibraryError::GetSymbolError { .. } => Reason::NoRootModule {
            library: library.to_owned(),
        },
        LibraryError::InvalidAbiHeader(header) => Reason::WrongHeader {
            message: format!("it is of abi_stable {}.{}", header.abi_major, header.abi_minor),
        },
        other => Reason::WrongHeader {
            message: one_line(&other.to_string()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(text: &str) -> Reason {
        link_reason(Path::new("/p/x.so"), text)
    }

    #[test]
    fn the_linkers_texts_become_reasons() {
        assert_eq!(
            reason("/p/x.so: undefined symbol: foo"),
            Reason::MissingSymbol { symbol: "foo".into() }
        );
        assert_eq!(
            reason("/p/x.so: undefined symbol: foo, version BAR_1"),
            Reason::MissingSymbol { symbol: "foo".into() }
        );
        assert_eq!(
            reason("libdrm.so.9: cannot open shared object file: No such file or directory"),
            Reason::MissingLibrary {
                name: "libdrm.so.9".into()
            }
        );
        assert!(matches!(
            reason("/p/x.so: cannot open shared object file: Permission denied"),
            Reason::LibraryUnreadable { .. }
        ));
        assert_eq!(
            reason("/lib/libc.so.6: version `GLIBC_2.99' not found (required by /p/x.so)"),
            Reason::MissingVersion {
                version: "GLIBC_2.99".into(),
                library: "/lib/libc.so.6".into()
            }
        );
        assert_eq!(
            reason("/p/x.so: cannot allocate memory in static TLS block"),
            Reason::LinkFailed {
                message: "cannot allocate memory in static TLS block".into()
            }
        );
    }
}
