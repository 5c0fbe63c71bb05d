//! Names of symbols in IR and in code objects.

use crate::brig::Linkage;

/// The name of a symbol of module scope: HSAIL's own for program linkage, `&module::&name` for module linkage.
pub(super) fn symbol(module: &str, linkage: Linkage, name: &str) -> String {
    match linkage {
        Linkage::MODULE => format!("{module}::{name}"),
        _ => name.to_owned(),
    }
}

/// A name as IR has it: in quotes, with what may not stand in them as hexadecimal numbers.
pub(super) fn quoted(name: &str) -> String {
    format!("@\"{}\"", escaped(name.bytes()))
}

/// Bytes as they stand in quotes.
pub(super) fn escaped(bytes: impl Iterator<Item = u8>) -> String {
    use std::fmt::Write;
    let mut text = String::new();
    for byte in bytes {
        match byte {
            b'"' | b'\\' | 0..=0x1f | 0x7f.. => {
                // Writing to a string does not fail.
                let _ = write!(text, "\\{byte:02X}");
            }
            _ => text.push(char::from(byte)),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_keep_their_sigils() {
        let name = symbol("&m", Linkage::MODULE, "&kernel");
        assert_eq!(quoted(&name), "@\"&m::&kernel\"");
        assert_eq!(symbol("&m", Linkage::PROGRAM, "&kernel"), "&kernel");
    }

    #[test]
    fn what_ends_a_string_is_a_number() {
        assert_eq!(escaped(b"a\"b\\\n\xff".iter().copied()), "a\\22b\\5C\\0A\\FF");
    }
}
