//! Where plugins are looked for.
//!
//! In this order, the first file of a name winning: `HANSA_PLUGIN_FILES`, which replaces everything
//! else; `HANSA_PLUGIN_ADD`; the user's configuration directory; `/etc`; `/run`; the directory of
//! the loaded runtime, so that a tree can be moved as a whole; `/usr/local/lib`; `/usr/lib`. The
//! dynamic linker's search path is never used. Built-in plugins come last.

use std::ffi::CStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use hansa_plugin_api::manifest::{DIRECTORY, TARGET};

use crate::config::{Config, Environment};

/// What the search depends on.
#[derive(Clone, Debug)]
pub struct Roots {
    /// The directory that `/etc`, `/run`, `/usr` and `/dev` are looked for in: `/` outside of tests.
    pub root: PathBuf,
    /// The user's configuration directory.
    pub user: Option<PathBuf>,
    /// The directory of the loaded runtime.
    pub runtime: Option<PathBuf>,
}

impl Roots {
    /// Where this process looks. A program with more rights than its caller can be reached through
    /// a directory of the caller's, by a hard link; then it is not looked in.
    pub fn of_process(environment: &Environment) -> Self {
        let is_roots = |dir: &PathBuf| std::fs::metadata(dir).is_ok_and(|metadata| metadata.uid() == 0);
        let runtime = runtime_directory().filter(|dir| !environment.secure() || is_roots(dir));
        Self {
            root: "/".into(),
            user: environment.user_config_dir(),
            runtime,
        }
    }
}

/// A place that is searched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A directory of manifests; `strict` means that every `.toml` file in it should be one.
    Directory { path: PathBuf, strict: bool },
    /// One manifest or library, named by somebody.
    File(PathBuf),
}

impl Place {
    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        match self {
            Self::Directory { path, .. } | Self::File(path) => path,
        }
    }
}

/// The places, in order.
pub(super) fn places(roots: &Roots, config: &Config) -> Vec<Place> {
    let plugins = &config.settings.plugins;
    let named = |path: &PathBuf| {
        if path.is_dir() {
            Place::Directory {
                path: path.clone(),
                strict: true,
            }
        } else {
            Place::File(path.clone())
        }
    };
    if replaces_everything(config) {
        return plugins.files.value.0.iter().map(named).collect();
    }
    let directory = |path: PathBuf| Place::Directory { path, strict: true };
    let below_root = |path: &str| directory(roots.root.join(path).join(DIRECTORY));
    let mut places: Vec<Place> = plugins.add.value.0.iter().map(named).collect();
    places.extend(roots.user.as_ref().map(|user| directory(user.join(DIRECTORY))));
    places.extend(["etc", "run"].map(below_root));
    if let Some(runtime) = &roots.runtime {
        places.push(Place::Directory {
            path: runtime.clone(),
            strict: false,
        });
        places.push(directory(runtime.join(DIRECTORY)));
    }
    let multiarch = multiarch(TARGET);
    for prefix in ["usr/local/lib", "usr/lib"] {
        places.push(below_root(&format!("{prefix}/{multiarch}")));
        places.push(below_root(prefix));
    }
    places.push(below_root("usr/lib64"));
    places
}

/// Whether the configuration names the plugins one by one, so that nothing is searched.
pub(super) fn replaces_everything(config: &Config) -> bool {
    config.settings.plugins.files.is_set()
}

/// Debian's name for a target: the triple without the vendor.
fn multiarch(target: &str) -> String {
    let parts: Vec<&str> = target.split('-').collect();
    match parts[..] {
        [arch, _, system, libc] => format!("{}-{system}-{libc}", arch.trim_end_matches("gc")),
        _ => target.to_owned(),
    }
}

/// The directory of the shared object, or the program, that this code is in.
fn runtime_directory() -> Option<PathBuf> {
    let mut info = libc::Dl_info {
        dli_fname: std::ptr::null(),
        dli_fbase: std::ptr::null_mut(),
        dli_sname: std::ptr::null(),
        dli_saddr: std::ptr::null_mut(),
    };
    let here = runtime_directory as *const libc::c_void;
    // SAFETY: `info` is a valid place to write to; any address may be asked about.
    let found = unsafe { libc::dladdr(here, &raw mut info) };
    if found == 0 || info.dli_fname.is_null() {
        return None;
    }
    // SAFETY: the linker's name of a loaded object is a C string that lives as long as the object,
    // which contains this code.
    let name = unsafe { CStr::from_ptr(info.dli_fname) };
    let path = Path::new(std::ffi::OsStr::from_bytes(name.to_bytes()));
    // A program's own name is what it was called by, which need not lead to it.
    let path = if path.is_absolute() {
        path.to_owned()
    } else {
        std::env::current_exe().ok()?
    };
    path.canonicalize().ok()?.parent().map(Path::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Inputs, Origin, Setting};

    fn roots() -> Roots {
        Roots {
            root: "/r".into(),
            user: Some("/home/u/.config".into()),
            runtime: Some("/opt/hansa/lib".into()),
        }
    }

    fn config(variables: &[(&str, &str)]) -> Config {
        let environment = Environment::new(variables.iter().copied(), false);
        Config::load(&Inputs {
            root: "/nowhere".into(),
            environment,
        })
    }

    fn texts(places: &[Place]) -> Vec<String> {
        let text = |place: &Place| match place {
            Place::Directory { path, strict: true } => path.display().to_string(),
            Place::Directory { path, strict: false } => format!("{} (loose)", path.display()),
            Place::File(path) => format!("{} (file)", path.display()),
        };
        places.iter().map(text).collect()
    }

    #[test]
    fn the_order_of_the_search() {
        let found = texts(&places(
            &roots(),
            &config(&[("HANSA_PLUGIN_ADD", "/tmp:/x/50-a.b.toml")]),
        ));
        let multiarch = multiarch(TARGET);
        let expected = [
            "/tmp".to_owned(),
            "/x/50-a.b.toml (file)".into(),
            "/home/u/.config/hansa/plugins.d".into(),
            "/r/etc/hansa/plugins.d".into(),
            "/r/run/hansa/plugins.d".into(),
            "/opt/hansa/lib (loose)".into(),
            "/opt/hansa/lib/hansa/plugins.d".into(),
            format!("/r/usr/local/lib/{multiarch}/hansa/plugins.d"),
            "/r/usr/local/lib/hansa/plugins.d".into(),
            format!("/r/usr/lib/{multiarch}/hansa/plugins.d"),
            "/r/usr/lib/hansa/plugins.d".into(),
            "/r/usr/lib64/hansa/plugins.d".into(),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn files_replace_everything() {
        let found = places(
            &roots(),
            &config(&[
                ("HANSA_PLUGIN_FILES", "/a.toml:/b.so"),
                ("HANSA_PLUGIN_ADD", "/tmp"),
            ]),
        );
        assert_eq!(texts(&found), ["/a.toml (file)", "/b.so (file)"]);
    }

    #[test]
    fn an_empty_list_in_the_file_also_replaces_everything() {
        let mut config = config(&[]);
        config.settings.plugins.files = Setting {
            value: crate::config::Paths::default(),
            origin: Origin::File {
                path: "/x".into(),
                line: 1,
            },
        };
        assert_eq!(places(&roots(), &config), []);
    }

    #[test]
    fn the_runtime_knows_where_it_is() {
        let exe = std::env::current_exe().unwrap().canonicalize().unwrap();
        assert_eq!(runtime_directory().unwrap(), exe.parent().unwrap());
    }

    #[test]
    fn multiarch_names() {
        assert_eq!(multiarch("x86_64-unknown-linux-gnu"), "x86_64-linux-gnu");
        assert_eq!(multiarch("riscv64gc-unknown-linux-gnu"), "riscv64-linux-gnu");
    }
}
