//! A `clang` that is run once: it optimises, generates code, and runs the linker, `ld.lld`.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use super::error::{Attempt, Error};
use super::{Backend, Isa, TRIPLE};

/// What is tested most comes first; then the newest.
const VERSIONS: [u32; 10] = [15, 24, 23, 22, 21, 20, 19, 18, 17, 16];
/// Where ROCm's packages put theirs.
const ROCM: &str = "/opt/rocm/llvm/bin/clang";

/// A compiler by its path.
#[derive(Debug)]
pub(super) struct Clang {
    path: PathBuf,
}

impl Clang {
    /// The first of `clang-15`, `clang-24` down to `clang-16`, ROCm's `clang`, and `clang`, that is in `PATH` or where
    /// LLVM's packages put them. A process with more rights than its caller does not look in the caller's `PATH`.
    pub(super) fn find() -> Result<Self, Attempt> {
        // SAFETY: reads an entry of the auxiliary vector.
        let secure = unsafe { libc::getauxval(libc::AT_SECURE) } != 0;
        let path = std::env::var_os("PATH").filter(|_| !secure).unwrap_or_default();
        find_in(&path).map(|path| Self { path }).ok_or_else(|| {
            Attempt::new(
                "clang-15, another clang, or ROCm's",
                format!("none in PATH, in /usr/lib/llvm-*/bin, and at {ROCM}"),
            )
        })
    }

    fn name(&self) -> String {
        self.path.display().to_string()
    }

    fn io(&self, what: String) -> impl FnOnce(std::io::Error) -> Error + '_ {
        move |source| Error::Io {
            tool: self.name(),
            what,
            source,
        }
    }
}

fn find_in(path: &OsString) -> Option<PathBuf> {
    let in_path = |name: &str| {
        std::env::split_paths(path)
            .map(|folder| folder.join(name))
            .find(|file| file.is_file())
    };
    let numbered = |version: &u32| {
        in_path(&format!("clang-{version}")).or_else(|| {
            let file = PathBuf::from(format!("/usr/lib/llvm-{version}/bin/clang"));
            file.is_file().then_some(file)
        })
    };
    VERSIONS
        .iter()
        .find_map(numbered)
        .or_else(|| Some(PathBuf::from(ROCM)).filter(|file| file.is_file()))
        .or_else(|| in_path("clang"))
}

impl Backend for Clang {
    fn compile(&self, ir: &str, isa: &Isa<'_>, optimisation: u8) -> Result<Vec<u8>, Error> {
        let folder =
            Folder::create().map_err(self.io("a folder for temporary files cannot be made".to_owned()))?;
        let (input, output) = (folder.path.join("module.ll"), folder.path.join("module.co"));
        fs::write(&input, ir).map_err(self.io(format!("{} cannot be written", input.display())))?;
        let result = Command::new(&self.path)
            .args(["-x", "ir", "-target", TRIPLE, "-nogpulib"])
            .arg(format!("-mcpu={}", isa.target_id))
            .arg(format!("-O{optimisation}"))
            .arg("-Wno-override-module")
            .arg(&input)
            .arg("-o")
            .arg(&output)
            .env("LC_ALL", "C")
            .stdin(Stdio::null())
            .output()
            .map_err(self.io("it cannot be run".to_owned()))?;
        if !result.status.success() {
            let log = String::from_utf8_lossy(&result.stderr).trim_end().to_owned();
            return Err(if is_about_the_chip(&log) {
                Error::UnknownIsa {
                    tool: self.name(),
                    isa: isa.name.to_owned(),
                }
            } else {
                Error::Failed {
                    tool: self.name(),
                    step: "compile",
                    log,
                }
            });
        }
        fs::read(&output).map_err(self.io(format!("its output {} cannot be read", output.display())))
    }
}

/// Whether the compiler complains of the processor rather than of the code.
fn is_about_the_chip(log: &str) -> bool {
    [
        "unsupported CPU",
        "unknown target CPU",
        "invalid target ID",
        "Invalid target ID",
    ]
    .iter()
    .any(|text| log.contains(text))
}

/// A folder that only we can read, and that is gone with this value.
#[derive(Debug)]
struct Folder {
    path: PathBuf,
}

impl Folder {
    fn create() -> std::io::Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        // A process with our number may have died and left its folders.
        const ATTEMPTS: u32 = 1000;
        let base = std::env::temp_dir();
        let mut last = None;
        for _ in 0..ATTEMPTS {
            let path = numbered_folder(&base, COUNT.fetch_add(1, Ordering::Relaxed));
            match fs::DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(Self { path }),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => last = Some(error),
                Err(error) => return Err(error),
            }
        }
        Err(last.unwrap_or_else(|| std::io::ErrorKind::AlreadyExists.into()))
    }
}

fn numbered_folder(base: &Path, number: u32) -> PathBuf {
    base.join(format!("hansa-finalizer-{}-{number}", std::process::id()))
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What cannot be removed now is in the folder for such things.
        drop(fs::remove_dir_all(&self.path));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn temporary_files_are_ours_and_go_away() {
        use std::os::unix::fs::PermissionsExt;
        let folder = Folder::create().expect("a folder");
        let other = Folder::create().expect("another folder");
        assert_ne!(folder.path, other.path);
        fs::write(folder.path.join("module.ll"), "text").expect("a file");
        let mode = fs::metadata(&folder.path).expect("metadata").permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        let path = folder.path.clone();
        drop(folder);
        assert!(!path.exists() && other.path.exists());
    }

    #[test]
    fn the_version_tested_most_is_found_first() {
        let folder = Folder::create().expect("a folder");
        for name in ["clang", "clang-15", "clang-19"] {
            fs::write(folder.path.join(name), "").expect("a file");
        }
        let found = find_in(&folder.path.clone().into_os_string());
        assert_eq!(found, Some(folder.path.join("clang-15")));
    }
}
