//! Comparing what the programs of `tests/clients/oracle` print on Hansa with what they printed on AMD's runtime.
//!
//! A line is `function | case | answer` (or `object | attribute | answer`). Every line equals AMD's, or stands in a
//! committed list of differences, each under a heading with its reason:
//!
//! ```text
//! == Reason why the lines below differ
//! =? Reason why the lines below may differ
//! hsa_queue_create | GPU size 1 | HSA_STATUS_SUCCESS (0x0) | size=64 *
//! ```
//!
//! `*` stands for any text, but not for a whole answer, which would hide a failure as well; `(none)` is the answer of a
//! case that we do not have. A difference that no entry names is a complaint, and so is an entry under `==` that names no
//! difference: the list never promises more than there is.

use std::collections::HashMap;

/// What a program printed, in order.
#[derive(Clone, Debug, Default)]
pub struct Answers(Vec<(String, String)>);

impl Answers {
    /// Reads the lines of a program. A case that comes again gets a number.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let mut times: HashMap<String, u32> = HashMap::new();
        let split = |line: &str| {
            let end = line.match_indices(" | ").nth(1).map_or(line.len(), |(at, _)| at);
            let (case, answer) = line.split_at(end);
            let time = times.entry(case.to_owned()).or_default();
            *time += 1;
            let case = if *time == 1 {
                case.to_owned()
            } else {
                format!("{case} #{time}")
            };
            (case, answer.strip_prefix(" | ").unwrap_or(answer).to_owned())
        };
        Self(text.lines().map(split).collect())
    }

    /// The cases and their answers, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(case, answer)| (&**case, &**answer))
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The cases by name.
    #[must_use]
    pub fn by_case(&self) -> HashMap<&str, &str> {
        self.iter().collect()
    }
}

/// Whether an answer says that the program died or hung, or that there was nothing to ask.
#[must_use]
pub fn is_death(answer: &str) -> bool {
    ["CRASH(", "TIMEOUT(", "EXIT(", "NO_SYMBOL"]
        .iter()
        .any(|word| answer.contains(word))
}

#[derive(Clone, Debug)]
struct Entry {
    pattern: String,
    needed: bool,
}

/// A committed list of differences.
#[derive(Clone, Debug, Default)]
pub struct Differences(Vec<Entry>);

impl Differences {
    /// Reads a list.
    ///
    /// # Errors
    ///
    /// The number of a line that has no reason above it, or does not say what the answer is.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut needed = None;
        let mut entries = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            let heading = [("== ", true), ("=? ", false)]
                .iter()
                .find_map(|(mark, needed)| Some((line.strip_prefix(mark)?, *needed)));
            match (heading, needed) {
                (Some((reason, kind)), _) if !reason.trim().is_empty() => needed = Some(kind),
                (None, _) if line.trim().is_empty() || line.starts_with('#') => {}
                (None, Some(_)) if line.splitn(3, " | ").nth(2).is_none_or(|answer| answer == "*") => {
                    return Err(format!("line {number} takes any answer: {line}"));
                }
                (None, Some(needed)) => entries.push(Entry {
                    pattern: line.to_owned(),
                    needed,
                }),
                _ => return Err(format!("line {number} has no reason above it: {line}")),
            }
        }
        Ok(Self(entries))
    }

    /// This list for another device: what it names may differ there, and what `own` names does.
    #[must_use]
    pub fn elsewhere(self, own: Self) -> Self {
        let may = self.0.into_iter().map(|entry| Entry {
            needed: false,
            ..entry
        });
        Self(own.0.into_iter().chain(may).collect())
    }

    /// Everything that is wrong with our answers.
    #[must_use]
    pub fn complaints(&self, ours: &Answers, theirs: &Answers) -> Vec<String> {
        let mut used = vec![false; self.0.len()];
        let mut complaints = Vec::new();
        let (our, their) = (ours.by_case(), theirs.by_case());
        let mut named = |line: &str| {
            let index = self.0.iter().position(|entry| matches(&entry.pattern, line));
            index.map(|index| used[index] = true).is_some()
        };
        for (case, answer) in ours.iter() {
            let expected = their.get(case).copied();
            let line = format!("{case} | {answer}");
            if expected != Some(answer) && !named(&line) {
                let expected = expected.unwrap_or("has no such case");
                complaints.push(format!("{line}\n    AMD's runtime: {expected}"));
            }
        }
        for (case, _) in theirs.iter() {
            if !our.contains_key(case) && !named(&format!("{case} | (none)")) {
                complaints.push(format!("{case} has no answer"));
            }
        }
        for (entry, used) in self.0.iter().zip(used) {
            if entry.needed && !used {
                complaints.push(format!("no difference is named by: {}", entry.pattern));
            }
        }
        complaints
    }
}

/// Whether a text is a pattern's, in which `*` stands for any text.
fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else {
        return false;
    };
    let mut last = None;
    for part in parts {
        if let Some(part) = last.replace(part) {
            let Some(at) = rest.find(part) else { return false };
            rest = &rest[at + part.len()..];
        }
    }
    last.map_or(rest.is_empty(), |last| rest.ends_with(last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_text() {
        assert!(matches("a | b | c", "a | b | c"));
        assert!(matches("a* | b | *", "abc | b | anything"));
        assert!(matches("*x*y", "1x2x3y"));
        assert!(!matches("a | b", "a | b | c"));
        assert!(!matches("*x*y", "1x2x3"));
        assert!(!matches("ab*b", "ab"));
    }

    #[test]
    fn a_case_that_comes_again_has_a_number() {
        let answers = Answers::parse("f | one | 1 | more\nf | one | 2\nf | two\n");
        let cases: Vec<_> = answers.iter().collect();
        assert_eq!(
            cases,
            [("f | one", "1 | more"), ("f | one #2", "2"), ("f | two", "")]
        );
    }

    #[test]
    fn what_differs_without_a_reason_and_a_reason_without_a_difference_are_complaints() {
        let theirs = Answers::parse("f | a | 1\nf | b | 1\nf | c | 1\nf | d | 1\n");
        let ours = Answers::parse("f | a | 1\nf | b | 2\nf | c | 2\n");
        let list = "# words\n== because\nf | b | 2*\nf | a | 2\n=? the machine\nf | a | 3\n";
        let complaints = Differences::parse(list).unwrap().complaints(&ours, &theirs);
        assert_eq!(complaints.len(), 3, "{complaints:?}");
        assert!(complaints[0].starts_with("f | c | 2\n"));
        assert_eq!(complaints[1], "f | d has no answer");
        assert_eq!(complaints[2], "no difference is named by: f | a | 2");
    }

    #[test]
    fn elsewhere_only_the_own_differences_have_to_be() {
        let theirs = Answers::parse("f | a | 1\nf | b | 1\n");
        let ours = Answers::parse("f | a | 1\nf | b | 3\n");
        let list = |text| Differences::parse(text).unwrap();
        let base = "== because\nf | a | 2\nf | b | 2\n";
        let both = list(base).elsewhere(list("== here\nf | b | 3\n"));
        assert_eq!(both.complaints(&ours, &theirs), Vec::<String>::new());
        let both = list(base).elsewhere(list("== here\nf | b | 3\nf | a | 4\n"));
        assert_eq!(both.complaints(&ours, &theirs).len(), 1);
    }

    #[test]
    fn every_difference_has_a_reason() {
        assert!(Differences::parse("f | a | 1\n")
            .unwrap_err()
            .starts_with("line 1 "));
        assert!(Differences::parse("== \nf | a | 1\n").is_err());
    }

    #[test]
    fn no_difference_is_any_answer() {
        for open in ["f | a | *", "f | *"] {
            let error = Differences::parse(&format!("=? because\n{open}\n")).unwrap_err();
            assert_eq!(error, format!("line 2 takes any answer: {open}"));
        }
        assert!(Differences::parse("=? because\nf | * | (none)\n").is_ok());
    }
}
