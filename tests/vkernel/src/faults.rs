//! The script of failures.
//!
//! A rule names a call: a request by the kernel's name (`CREATE_QUEUE`), or `open PATH`, `read PATH`, `list PATH`,
//! `mmap KIND` (`kfd`, `render`, `nothing`), `munmap`; `MAP_MEMORY_TO_GPU device` is one device of several. It fails with an
//! errno, so many times, after so many that go well. A device can also vanish, after so many requests.

use crate::Errno;
use hansa_plugin_api::sync::Mutex;
use std::collections::BTreeMap;

/// A call that is to fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its name; a `*` at the end stands for anything.
    pub call: String,
    /// How it fails.
    pub errno: Errno,
    /// How often it goes well before.
    pub after: u32,
    /// How often it fails.
    pub times: u32,
}

/// The rules in force, and a count of every call.
#[derive(Debug, Default)]
pub struct Faults {
    rules: Mutex<Vec<Rule>>,
    counts: Mutex<BTreeMap<String, u32>>,
    /// Devices that are to vanish, with the requests that they still see.
    vanishing: Mutex<Vec<(usize, u32)>>,
}

impl Faults {
    /// Adds a rule: the next call of this name fails once.
    pub fn once(&self, call: impl Into<String>, errno: Errno) {
        self.add(Rule {
            call: call.into(),
            errno,
            after: 0,
            times: 1,
        });
    }

    /// Adds a rule: all calls of this name fail.
    pub fn always(&self, call: impl Into<String>, errno: Errno) {
        self.add(Rule {
            call: call.into(),
            errno,
            after: 0,
            times: u32::MAX,
        });
    }

    /// Adds a rule.
    pub fn add(&self, rule: Rule) {
        self.rules.lock().push(rule);
    }

    /// Takes all rules away. Answers how many had not failed as often as they should.
    pub fn clear(&self) -> usize {
        let rules = std::mem::take(&mut *self.rules.lock());
        rules
            .iter()
            .filter(|rule| rule.times != 0 && rule.times != u32::MAX)
            .count()
    }

    /// Lets a GPU vanish after so many requests, whichever they are.
    pub fn vanish(&self, gpu: usize, after: u32) {
        self.vanishing.lock().push((gpu, after));
    }

    /// Counts a request; answers the GPUs that vanish with it.
    pub(crate) fn tick(&self) -> Vec<usize> {
        let mut vanishing = self.vanishing.lock();
        let now = vanishing.iter().filter(|(_, after)| *after == 0);
        let now = now.map(|(gpu, _)| *gpu).collect();
        vanishing.retain(|(_, after)| *after != 0);
        for (_, after) in vanishing.iter_mut() {
            *after -= 1;
        }
        now
    }

    /// Reads rules as text: `CALL=ERRNO[xTIMES][+AFTER]` and `vanish=GPU[+AFTER]`, separated by semicolons; for the preload
    /// face. The errno is the system's number, a GPU is its place in the machine, from 0.
    ///
    /// # Errors
    ///
    /// What cannot be read.
    pub fn script(&self, text: &str) -> Result<(), String> {
        for part in text.split(';').filter(|part| !part.trim().is_empty()) {
            let bad = || format!("{part:?} is neither CALL=ERRNO[xTIMES][+AFTER] nor vanish=GPU[+AFTER]");
            let (call, rest) = part.trim().rsplit_once('=').ok_or_else(bad)?;
            let (rest, after) = rest.split_once('+').unwrap_or((rest, "0"));
            if call == "vanish" {
                self.vanish(
                    rest.parse().map_err(|_| bad())?,
                    after.parse().map_err(|_| bad())?,
                );
                continue;
            }
            let (errno, times) = rest.split_once('x').unwrap_or((rest, "1"));
            self.add(Rule {
                call: call.into(),
                errno: Errno::from_raw_os_error(errno.parse().map_err(|_| bad())?),
                after: after.parse().map_err(|_| bad())?,
                times: times.parse().map_err(|_| bad())?,
            });
        }
        Ok(())
    }

    /// Counts a call and answers how it is to fail, if it is.
    pub fn check(&self, call: &str) -> Result<(), Errno> {
        *self.counts.lock().entry(call.to_owned()).or_insert(0) += 1;
        for rule in self.rules.lock().iter_mut() {
            let meant = match rule.call.strip_suffix('*') {
                Some(start) => call.starts_with(start),
                None => rule.call == call,
            };
            if !meant || rule.times == 0 {
                continue;
            }
            if rule.after > 0 {
                rule.after -= 1;
                continue;
            }
            if rule.times != u32::MAX {
                rule.times -= 1;
            }
            return Err(rule.errno);
        }
        Ok(())
    }

    /// How often each call was made.
    #[must_use]
    pub fn counts(&self) -> BTreeMap<String, u32> {
        self.counts.lock().clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_fails_as_often_as_it_says() {
        let faults = Faults::default();
        faults.script("CREATE_QUEUE=12x2+1; open /dev/dri/*=13").unwrap();
        let asked: Vec<_> = (0..4).map(|_| faults.check("CREATE_QUEUE").err()).collect();
        assert_eq!(asked, [None, Some(Errno::NOMEM), Some(Errno::NOMEM), None]);
        assert_eq!(faults.check("open /dev/dri/renderD128"), Err(Errno::ACCESS));
        assert_eq!(faults.counts()["CREATE_QUEUE"], 4);
        assert!(faults.script("x").is_err());
        assert!(faults.script("vanish=x").is_err());
        faults.script("vanish=1+2;vanish=0").unwrap();
        let gone: Vec<_> = (0..4).map(|_| faults.tick()).collect();
        assert_eq!(gone, [vec![0], vec![], vec![1], vec![]]);
    }
}
