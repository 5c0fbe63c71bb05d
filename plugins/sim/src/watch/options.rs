//! What the environment asks for.
//!
//! `HANSA_SIM_TRACE=FILE` traces everything, to standard error if FILE is `-`. Filters follow, with commas:
//!
//! | filter | only |
//! |---|---|
//! | `kernel=TEXT` | kernels with TEXT in their name |
//! | `pc=FIRST-LAST` | instructions at these offsets from the kernel's first, in hexadecimal |
//! | `group=X:Y:Z` | this work-group |
//! | `wave=N` | this wave of a work-group |

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::PathBuf;

pub(super) const TRACE: &str = "HANSA_SIM_TRACE";
const STATS: &str = "HANSA_SIM_STATS";
const FORM: &str = "FILE[,kernel=TEXT][,pc=FIRST-LAST][,group=X:Y:Z][,wave=N], such as -,kernel=sum,wave=0";

/// Which instructions are traced.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Filter {
    kernel: Option<String>,
    pc: Option<(u64, u64)>,
    group: Option<[u32; 3]>,
    wave: Option<u32>,
}

impl Filter {
    pub(super) fn has_kernel(&self, name: &str) -> bool {
        self.kernel.as_ref().is_none_or(|part| name.contains(part))
    }

    #[inline]
    pub(super) fn has_step(&self, offset: u64, group: [u32; 3], wave: u32) -> bool {
        self.pc
            .is_none_or(|(first, last)| (first..=last).contains(&offset))
            && self.group.is_none_or(|only| only == group)
            && self.wave.is_none_or(|only| only == wave)
    }
}

/// What is asked for.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Options {
    pub(super) trace: Option<(PathBuf, Filter)>,
    pub(super) stats: Option<Output>,
}

/// Where counters go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Output {
    pub(super) file: PathBuf,
    /// Behind what is in the file; otherwise in its place.
    append: bool,
}

impl Output {
    fn of(text: &str) -> Self {
        let behind = text.strip_prefix('+');
        Self {
            file: file(behind.unwrap_or(text)),
            append: behind.is_some(),
        }
    }

    /// Writes a document.
    pub(super) fn write(&self, document: &str) -> std::io::Result<()> {
        let mut how = OpenOptions::new();
        if self.append {
            how.append(true)
        } else {
            how.write(true).truncate(true)
        };
        how.create(true).open(&self.file)?.write_all(document.as_bytes())
    }
}

impl Options {
    /// What the variables say, and what is wrong with them.
    pub(super) fn of_environment() -> (Self, Vec<String>) {
        // SAFETY: reads the auxiliary vector.
        let secure = unsafe { libc::getauxval(libc::AT_SECURE) } != 0;
        if secure {
            return <(Self, Vec<String>)>::default();
        }
        let variable = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        Self::of(variable(TRACE).as_deref(), variable(STATS).as_deref())
    }

    fn of(trace: Option<&str>, stats: Option<&str>) -> (Self, Vec<String>) {
        let mut problems = Vec::new();
        let trace = trace.and_then(|text| match parse(text) {
            Ok(trace) => Some(trace),
            Err(part) => {
                problems.push(format!(
                    "{TRACE}={text}: {part:?} is not accepted, so nothing is traced; the form is {FORM}"
                ));
                None
            }
        });
        let stats = stats.map(Output::of);
        (Self { trace, stats }, problems)
    }
}

/// A file with the process's number in its name.
fn file(name: &str) -> PathBuf {
    name.replace("%p", &std::process::id().to_string()).into()
}

fn parse(text: &str) -> Result<(PathBuf, Filter), &str> {
    let mut parts = text.split(',');
    let name = parts.next().filter(|name| !name.is_empty()).ok_or(text)?;
    let mut filter = Filter::default();
    for part in parts {
        let (key, value) = part.split_once('=').ok_or(part)?;
        match key {
            "kernel" => filter.kernel = Some(value.to_owned()),
            "pc" => filter.pc = Some(range(value).ok_or(part)?),
            "group" => filter.group = Some(place(value).ok_or(part)?),
            "wave" => filter.wave = Some(value.parse().map_err(|_| part)?),
            _ => return Err(part),
        }
    }
    Ok((file(name), filter))
}

fn range(text: &str) -> Option<(u64, u64)> {
    let number = |text: &str| u64::from_str_radix(text.trim_start_matches("0x"), 16).ok();
    let (first, last) = text.split_once('-')?;
    let (first, last) = (number(first)?, number(last)?);
    (first <= last).then_some((first, last))
}

fn place(text: &str) -> Option<[u32; 3]> {
    let sides: Vec<u32> = text.split(':').map(str::parse).collect::<Result<_, _>>().ok()?;
    sides.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_and_filters() {
        let (options, problems) = Options::of(
            Some("out.txt,kernel=sum,pc=0x10-2c,group=1:2:3,wave=4"),
            Some("s.json"),
        );
        assert!(problems.is_empty());
        let (file, filter) = options.trace.unwrap();
        assert_eq!(file, PathBuf::from("out.txt"));
        let json = |append| Output {
            file: PathBuf::from("s.json"),
            append,
        };
        assert_eq!(options.stats, Some(json(false)));
        assert_eq!(Options::of(None, Some("+s.json")).0.stats, Some(json(true)));
        assert!(filter.has_kernel("block_sum") && !filter.has_kernel("scan"));
        assert!(filter.has_step(0x10, [1, 2, 3], 4) && filter.has_step(0x2c, [1, 2, 3], 4));
        assert!(!filter.has_step(0x30, [1, 2, 3], 4));
        assert!(!filter.has_step(0x10, [1, 2, 0], 4));
        assert!(!filter.has_step(0x10, [1, 2, 3], 0));
        let (file, filter) = parse("-").unwrap();
        assert_eq!((file, filter), (PathBuf::from("-"), Filter::default()));
        assert_eq!(
            parse("a%p").unwrap().0,
            PathBuf::from(format!("a{}", std::process::id()))
        );
    }

    #[test]
    fn what_is_not_accepted_is_named_with_the_form() {
        for (text, part) in [
            (",wave=1", ",wave=1"),
            ("f,wave=x", "wave=x"),
            ("f,pc=9-1", "pc=9-1"),
            ("f,pc=1", "pc=1"),
            ("f,group=1:2", "group=1:2"),
            ("f,colour=red", "colour=red"),
            ("f,red", "red"),
        ] {
            let (options, problems) = Options::of(Some(text), None);
            assert_eq!(options, Options::default());
            assert!(problems[0].contains(&format!("{part:?}")) && problems[0].contains("FILE[,kernel=TEXT]"));
        }
    }
}
