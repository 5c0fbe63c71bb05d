//! `amd_comgr_do_action`: from the files, or from the code object manager.

use crate::comgr::{self, Comgr, Handle, KINDS};
use crate::entry::Object;
use crate::front::Library;
use crate::key::Key;
use crate::store::Store;
use core::ffi::c_int;
use std::ffi::CString;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::Once;

/// Does an action, or takes its result from the files.
///
/// # Safety
///
/// As the code object manager's function.
pub(crate) unsafe fn do_action(
    library: &Library,
    kind: c_int,
    info: Handle,
    input: Handle,
    result: Handle,
) -> c_int {
    let compile = || {
        // SAFETY: the caller's arguments.
        unsafe { (library.do_action)(kind, info, input, result) }
    };
    let Some(comgr) = &library.comgr else {
        return compile();
    };
    // A panic here is a fault of ours; the program gets its code all the same.
    let looked_up = catch_unwind(AssertUnwindSafe(|| {
        let store = Store::of_environment()?;
        if !is_empty(comgr, result) {
            return None;
        }
        let name = Key::of(comgr, kind, info, input)?.name();
        let found = store.get(&name);
        Some((store, name, found))
    }));
    let Ok(Some((store, name, found))) = looked_up else {
        return compile();
    };
    if let Some(objects) = found {
        let mut all = objects.iter();
        if all.all(|object| {
            comgr
                .add(result, object.kind, &object.name, &object.data)
                .is_some()
        }) {
            return comgr::SUCCESS;
        }
        comgr.clear(result);
    }
    let status = compile();
    if status == comgr::SUCCESS {
        // What was compiled is there even if keeping it goes wrong.
        let _ = catch_unwind(AssertUnwindSafe(|| keep(comgr, &store, &name, result)));
    }
    status
}

fn is_empty(comgr: &Comgr, set: Handle) -> bool {
    KINDS
        .into_iter()
        .all(|kind| comgr.count(set, kind).unwrap_or(0) == 0)
}

/// Keeps what an action gave, and says once if that is not possible.
fn keep(comgr: &Comgr, store: &Store, name: &str, result: Handle) {
    static SAID: Once = Once::new();
    let Some(objects) = objects(comgr, result) else {
        return;
    };
    if let Err(error) = store.put(name, &objects) {
        SAID.call_once(|| {
            eprintln!(
                "hansa: compiled code is not kept in {}: {error}",
                store.directory().display()
            );
        });
    }
}

/// All objects of a set.
fn objects(comgr: &Comgr, set: Handle) -> Option<Vec<Object>> {
    let mut objects = Vec::new();
    for kind in KINDS {
        for index in 0..comgr.count(set, kind).unwrap_or(0) {
            let (name, data) = comgr.object(set, kind, index)?;
            // Names come with the zero byte that ends them.
            let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
            objects.push(Object {
                kind,
                name: CString::new(name).ok()?,
                data,
            });
        }
    }
    Some(objects)
}
