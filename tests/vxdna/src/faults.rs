//! What is to fail, and how often each call was made.
//!
//! Calls are named after requests (`CREATE_BO`), or `open PATH`, `read PATH`, `list PATH`, `mmap accel`, `mmap nothing` and `munmap`.

use hansa_plugin_api::sync::Mutex;
use hansa_plugin_api::sys::Errno;
use std::collections::BTreeMap;

#[derive(Debug)]
struct Rule {
    call: String,
    errno: Errno,
    /// Calls that go well before.
    after: u32,
}

/// Calls that fail once, and a count of all.
#[derive(Debug, Default)]
pub struct Faults {
    rules: Mutex<Vec<Rule>>,
    counts: Mutex<BTreeMap<String, u32>>,
}

impl Faults {
    /// The next call of this name fails.
    pub fn once(&self, call: &str, errno: Errno) {
        self.once_after(call, errno, 0);
    }

    /// A call of this name fails, after so many that go well.
    pub fn once_after(&self, call: &str, errno: Errno, after: u32) {
        let call = call.to_owned();
        self.rules.lock().push(Rule { call, errno, after });
    }

    /// Calls that did not fail as they should have. They will not.
    pub fn clear(&self) -> usize {
        std::mem::take(&mut *self.rules.lock()).len()
    }

    /// How often each call was made.
    #[must_use]
    pub fn counts(&self) -> BTreeMap<String, u32> {
        self.counts.lock().clone()
    }

    /// Counts a call, and fails if it should.
    pub(crate) fn check(&self, call: &str) -> Result<(), Errno> {
        *self.counts.lock().entry(call.to_owned()).or_default() += 1;
        let mut rules = self.rules.lock();
        let Some(at) = rules.iter().position(|rule| rule.call == call) else {
            return Ok(());
        };
        if rules[at].after > 0 {
            rules[at].after -= 1;
            return Ok(());
        }
        Err(rules.remove(at).errno)
    }
}
