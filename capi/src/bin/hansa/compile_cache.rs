//! Where code is kept that programs compile when they start, and the library that does it (`capi/compile-cache`).

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The variable that says where, for this command as for the library.
pub(crate) const VARIABLE: &str = "HANSA_COMPILE_CACHE";

/// The library that keeps it.
const LIBRARY: &str = "libhansa_compile_cache.so";

/// The library and the directory; nothing where nothing is to be kept, or the library was not installed.
///
/// # Errors
///
/// A directory that is not one for every program, wherever it runs.
pub(crate) fn of(directory: &Path) -> Result<Option<(PathBuf, OsString)>, String> {
    let library = directory.join(LIBRARY);
    let variable = |name: &str| std::env::var_os(name);
    Ok(place(variable)?
        .filter(|_| library.exists())
        .map(|place| (library, place.into_os_string())))
}

/// The directory: the one that is named, or the user's for what can be made again (XDG base directory specification).
fn place(variable: impl Fn(&str) -> Option<OsString>) -> Result<Option<PathBuf>, String> {
    if let Some(named) = variable(VARIABLE) {
        let path = PathBuf::from(&named);
        return match path.is_absolute() {
            true => Ok(Some(path)),
            false if named.is_empty() => Ok(None),
            false => Err(format!(
                "{VARIABLE}={}: the path of a directory from / on, or nothing to keep nothing",
                path.display()
            )),
        };
    }
    let absolute = |value: OsString| Some(PathBuf::from(value)).filter(|path| path.is_absolute());
    let of_user = variable("XDG_CACHE_HOME")
        .and_then(absolute)
        .or_else(|| Some(variable("HOME").and_then(absolute)?.join(".cache")));
    Ok(of_user.map(|path| path.join(OsStr::new("hansa/compiled"))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placed(variables: &[(&str, &str)]) -> Result<Option<PathBuf>, String> {
        place(|name| {
            let found = variables.iter().find(|(other, _)| *other == name)?;
            Some(found.1.into())
        })
    }

    #[test]
    fn the_place_is_the_named_one_or_the_users() {
        let path = |path: &str| Ok(Some(PathBuf::from(path)));
        let home = ("HOME", "/home/u");
        assert_eq!(placed(&[home]), path("/home/u/.cache/hansa/compiled"));
        assert_eq!(
            placed(&[home, ("XDG_CACHE_HOME", "/c")]),
            path("/c/hansa/compiled")
        );
        // The specification has relative paths ignored.
        assert_eq!(
            placed(&[home, ("XDG_CACHE_HOME", "c")]),
            path("/home/u/.cache/hansa/compiled")
        );
        assert_eq!(placed(&[home, (VARIABLE, "/d")]), path("/d"));
        assert_eq!(placed(&[home, (VARIABLE, "")]), Ok(None));
        assert_eq!(placed(&[]), Ok(None));
        let refused = placed(&[home, (VARIABLE, "d")]);
        assert!(refused.is_err_and(|why| why.contains("HANSA_COMPILE_CACHE=d")));
    }
}
