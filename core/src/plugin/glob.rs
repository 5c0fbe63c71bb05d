//! Globs over plugin ids, device nodes and PCI ids.
//!
//! `*` is any text, also none, and `?` is one character; everything else is itself. A text has no
//! structure for it: `*` also matches dots and slashes.

/// Whether a text matches a pattern.
pub fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let (mut p, mut t) = (0, 0);
    // Where to go on when a literal does not match: behind the last star, one character later.
    let mut retry: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some(b'*') => {
                p += 1;
                retry = Some((p, t));
            }
            Some(b) if *b == b'?' || *b == text[t] => {
                p += 1;
                t += 1;
            }
            _ => match retry {
                Some((after_star, from)) => {
                    retry = Some((after_star, from + 1));
                    p = after_star;
                    t = from + 1;
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|b| *b == b'*')
}

/// Whether a pattern names a plugin: by its whole id or by the end of it, `sim` for `org.hansa.sim`.
pub fn names(pattern: &str, id: &str) -> bool {
    let ends = id.match_indices('.').map(|(at, _)| &id[at + 1..]);
    matches(pattern, id) || ends.into_iter().any(|end| matches(pattern, end))
}

/// The first of the patterns that names a plugin.
pub fn first_naming<'a>(patterns: &'a [String], id: &str) -> Option<&'a str> {
    patterns
        .iter()
        .map(String::as_str)
        .find(|pattern| names(pattern, id))
}

/// Whether a pattern can match one text only.
pub fn is_literal(pattern: &str) -> bool {
    !pattern.contains(['*', '?'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_and_question_marks() {
        for (pattern, text) in [
            ("", ""),
            ("*", ""),
            ("*", "abc"),
            ("a*c", "abbbc"),
            ("a*b*c", "a-b-b-c"),
            ("1002:*", "1002:744c"),
            ("/dev/accel/accel?", "/dev/accel/accel0"),
            ("**x", "x"),
            ("*ab", "aab"),
        ] {
            assert!(matches(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in [
            ("", "a"),
            ("?", ""),
            ("a*c", "abd"),
            ("abc", "abcd"),
            ("abcd", "abc"),
            ("*ab", "aba"),
        ] {
            assert!(!matches(pattern, text), "{pattern} {text}");
        }
    }

    #[test]
    fn a_plugin_is_named_by_its_id_or_the_end_of_it() {
        for pattern in ["org.hansa.sim", "sim", "hansa.sim", "s?m", "org.*", "*"] {
            assert!(names(pattern, "org.hansa.sim"), "{pattern}");
        }
        for pattern in ["im", "hansa", "org.hansa", "kfd", ""] {
            assert!(!names(pattern, "org.hansa.sim"), "{pattern}");
        }
    }
}
