//! The driver's part of the configuration.
//!
//! `[backend.xdna]`: `heap_mib` (bytes of the device heap in MiB: 64, or a multiple of it up to 512 where the kernel lets a
//! heap grow) and `cache_flush` (`"processor"`, or `"kernel"` to leave the host's caches to the kernel).

use toml::{Table, Value};

/// Bytes of the part that a heap grows by (`dev_mem_size` of the kernel's driver).
pub const HEAP_STEP: u64 = 64 << 20;
/// Most bytes of a heap that any device has.
pub const MOST_HEAP: u64 = 512 << 20;

/// Who writes the host's caches back: the device does not see them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CacheFlush {
    /// This process, line by line, where the processor lets it.
    #[default]
    Processor,
    /// The kernel, buffer by buffer.
    Kernel,
}

/// What can be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Bytes of the device heap.
    pub heap_bytes: u64,
    /// Who writes caches back.
    pub cache_flush: CacheFlush,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            heap_bytes: HEAP_STEP,
            cache_flush: CacheFlush::default(),
        }
    }
}

impl Config {
    /// Reads TOML text. Answers the settings, and a sentence for each that means nothing.
    #[must_use]
    pub fn parse(text: &str) -> (Self, Vec<String>) {
        let mut config = Self::default();
        let table: Table = match text.parse() {
            Ok(table) => table,
            Err(error) => return (config, vec![format!("the settings are not TOML: {error}")]),
        };
        let mut complaints = Vec::new();
        for (key, value) in &table {
            match (key.as_str(), value) {
                ("environment", Value::Table(_)) => {}
                ("heap_mib", Value::Integer(mib)) => match heap_bytes(*mib) {
                    Some(bytes) => config.heap_bytes = bytes,
                    None => complaints.push(format!(
                        "heap_mib = {mib} is not 64, or a multiple of it up to {}",
                        MOST_HEAP >> 20
                    )),
                },
                ("cache_flush", Value::String(who)) if who == "processor" => {
                    config.cache_flush = CacheFlush::Processor;
                }
                ("cache_flush", Value::String(who)) if who == "kernel" => {
                    config.cache_flush = CacheFlush::Kernel;
                }
                ("cache_flush", value) => complaints.push(format!(
                    "cache_flush = {value} is neither \"processor\" nor \"kernel\""
                )),
                (name, value) => complaints.push(format!(
                    "{name} = {value} means nothing; the settings are heap_mib, cache_flush"
                )),
            }
        }
        (config, complaints)
    }
}

fn heap_bytes(mib: i64) -> Option<u64> {
    let bytes = u64::try_from(mib).ok()?.checked_mul(1 << 20)?;
    (bytes != 0 && bytes.is_multiple_of(HEAP_STEP) && bytes <= MOST_HEAP).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_set_holds() {
        let (config, complaints) = Config::parse("heap_mib = 128\ncache_flush = \"kernel\"\n");
        assert!(complaints.is_empty(), "{complaints:?}");
        assert_eq!(config.heap_bytes, 128 << 20);
        assert_eq!(config.cache_flush, CacheFlush::Kernel);
    }

    #[test]
    fn what_means_nothing_is_said_and_the_default_holds() {
        for text in [
            "heap_mib = 0",
            "heap_mib = 65",
            "heap_mib = 576",
            "heap_mib = -64",
            "heap_mib = \"64\"",
            "cache_flush = 1",
            "cache_flush = \"gpu\"",
            "columns = 4",
            "= broken",
        ] {
            let (config, complaints) = Config::parse(text);
            assert_eq!(config, Config::default(), "{text}");
            assert_eq!(complaints.len(), 1, "{text}: {complaints:?}");
        }
    }
}
