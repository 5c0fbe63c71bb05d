//! Code that was made before: programs finalize the same modules again and again.

use crate::brig::Module;
use crate::program::{Directives, Settings, Target};
use std::collections::{HashMap, VecDeque};
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How many results are kept.
const ENTRIES: usize = 256;

/// Bytes of modules and code that are kept, about.
const BYTES: usize = 64 << 20;

/// Everything that code depends on.
#[derive(Clone, Debug)]
pub(crate) struct Key {
    pub(crate) modules: Vec<Arc<Module>>,
    pub(crate) settings: Settings,
    pub(crate) target: Target,
    pub(crate) directives: Directives,
    pub(crate) options: String,
}

impl Key {
    fn bytes(&self) -> impl Iterator<Item = &[u8]> {
        self.modules.iter().map(|module| module.bytes())
    }

    fn others(&self) -> (Settings, &Target, Directives, &str) {
        (self.settings, &self.target, self.directives, &self.options)
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.others() == other.others() && self.bytes().eq(other.bytes())
    }
}

impl Eq for Key {}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.others().hash(state);
        self.bytes().for_each(|bytes| bytes.hash(state));
    }
}

/// The code, once somebody made it. Whoever wants the same meanwhile waits for the lock.
type Cell = Arc<Mutex<Option<Arc<[u8]>>>>;

#[derive(Debug, Default)]
struct Entries {
    cells: HashMap<Arc<Key>, Cell>,
    /// The keys, the oldest first.
    order: VecDeque<Arc<Key>>,
    /// Bytes of the modules of all keys, and of the code made of them.
    bytes: usize,
}

impl Entries {
    fn cell(&mut self, key: Key) -> (Cell, Arc<Key>) {
        if let Some((key, cell)) = self.cells.get_key_value(&key) {
            return (Arc::clone(cell), Arc::clone(key));
        }
        let key = Arc::new(key);
        let cell = Cell::default();
        self.bytes += key.bytes().map(<[u8]>::len).sum::<usize>();
        self.cells.insert(Arc::clone(&key), Arc::clone(&cell));
        self.order.push_back(Arc::clone(&key));
        while self.order.len() > ENTRIES || (self.bytes > BYTES && self.order.len() > 1) {
            self.forget_oldest();
        }
        (cell, key)
    }

    fn forget_oldest(&mut self) {
        let Some(key) = self.order.pop_front() else {
            return;
        };
        self.bytes -= key.bytes().map(<[u8]>::len).sum::<usize>();
        self.cells.remove(&key);
    }
}

/// Results by what they were made of.
#[derive(Debug, Default)]
pub(crate) struct Cache(Mutex<Entries>);

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Cache {
    /// The code of a key: made by `make` unless it is known. Errors are not kept.
    pub(crate) fn code<E>(
        &self,
        key: Key,
        make: impl FnOnce(&Key) -> Result<Vec<u8>, E>,
    ) -> Result<Arc<[u8]>, E> {
        let (cell, key) = locked(&self.0).cell(key);
        let mut code = locked(&cell);
        if let Some(code) = &*code {
            return Ok(Arc::clone(code));
        }
        let made: Arc<[u8]> = make(&key)?.into();
        *code = Some(Arc::clone(&made));
        Ok(made)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::brig::{MachineModel, Profile, Round};

    fn key(options: &str) -> Key {
        Key {
            modules: Vec::new(),
            settings: Settings {
                machine_model: MachineModel::LARGE,
                profile: Profile::FULL,
                rounding: Round::DEFAULT,
            },
            target: Target {
                isa: "amdgcn-amd-amdhsa--gfx900".to_owned(),
                wavefront: 64,
            },
            directives: Directives::default(),
            options: options.to_owned(),
        }
    }

    #[test]
    fn what_was_made_once_is_not_made_again() {
        let cache = Cache::default();
        let first = cache.code(key("a"), |_| Ok::<_, ()>(vec![1])).unwrap();
        let again = cache.code(key("a"), |_| Err(())).unwrap();
        let other = cache.code(key("b"), |_| Ok::<_, ()>(vec![2])).unwrap();
        assert_eq!((&*first, &*again, &*other), (&[1][..], &[1][..], &[2][..]));
    }

    #[test]
    fn errors_are_not_kept() {
        let cache = Cache::default();
        assert_eq!(cache.code(key("a"), |_| Err(7)), Err(7));
        assert_eq!(&*cache.code(key("a"), |_| Ok::<_, ()>(vec![1])).unwrap(), &[1]);
    }

    #[test]
    fn the_oldest_goes_first() {
        let cache = Cache::default();
        for i in 0..=ENTRIES {
            cache.code(key(&i.to_string()), |_| Ok::<_, ()>(vec![])).unwrap();
        }
        assert_eq!(locked(&cache.0).cells.len(), ENTRIES);
        assert_eq!(cache.code(key("0"), |_| Err(7)), Err(7));
        assert!(cache.code(key(&ENTRIES.to_string()), |_| Err(7)).is_ok());
    }
}
