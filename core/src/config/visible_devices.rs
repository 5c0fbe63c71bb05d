//! `ROCR_VISIBLE_DEVICES`: which GPUs there are for the program, and in which order.
//!
//! A list of tokens separated by commas. A token is a GPU's index, as C's `strtol` reads it with
//! base 0, or the beginning of its `GPU-` identifier (the hexadecimal unique id of the device, 16
//! digits). The first token that is malformed, out of range, ambiguous, unknown or a repetition
//! ends the list there: what stood before it counts. Set but empty, the variable hides every GPU;
//! it is the one variable whose empty value means something, and programs rely on it.

use std::ffi::OsStr;

use toml_edit::Item;

use super::value::{quoted, Dialect, Value};

/// The tokens of the list, trimmed and in upper case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VisibleDevices(Vec<String>);

/// What the list comes to for the GPUs at hand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Visible {
    /// Positions of the chosen GPUs, in the order asked for.
    pub gpus: Vec<usize>,
    /// The token that ended the list early, and why.
    pub stopped_at: Option<(String, &'static str)>,
}

impl VisibleDevices {
    /// Reads the list.
    pub fn parse(text: &str) -> Self {
        if text.trim().is_empty() {
            return Self::default();
        }
        Self(
            text.split(',')
                .map(|token| token.trim().to_ascii_uppercase())
                .collect(),
        )
    }

    /// Chooses among GPUs, each given by its unique id (0 when the device has none).
    pub fn choose(&self, unique_ids: &[u64]) -> Visible {
        let mut visible = Visible::default();
        for token in &self.0 {
            match position(token, unique_ids) {
                Ok(gpu) if visible.gpus.contains(&gpu) => {
                    visible.stopped_at = Some((token.clone(), "the GPU is named twice"));
                    break;
                }
                Ok(gpu) => visible.gpus.push(gpu),
                Err(why) => {
                    visible.stopped_at = Some((token.clone(), why));
                    break;
                }
            }
        }
        visible
    }
}

fn position(token: &str, unique_ids: &[u64]) -> Result<usize, &'static str> {
    if token.starts_with("GPU-") {
        if !(5..=20).contains(&token.len()) {
            return Err("a GPU identifier has 1 to 16 hexadecimal digits");
        }
        let matches = |id: &u64| *id != 0 && format!("GPU-{id:016X}").starts_with(token);
        let mut found = unique_ids
            .iter()
            .enumerate()
            .filter(|(_, id)| matches(id))
            .map(|(gpu, _)| gpu);
        return match (found.next(), found.next()) {
            (Some(gpu), None) => Ok(gpu),
            (None, _) => Err("no GPU has an identifier that begins so"),
            (Some(_), Some(_)) => Err("more than one GPU has an identifier that begins so"),
        };
    }
    let index = whole_number(token).ok_or("it is neither an index nor a GPU identifier")?;
    usize::try_from(index)
        .ok()
        .filter(|gpu| *gpu < unique_ids.len())
        .ok_or("there is no GPU with this index")
}

/// A number as `strtol` reads it with base 0, in upper case, with nothing after it.
fn whole_number(token: &str) -> Option<i64> {
    let (negative, digits) = match token.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, token.strip_prefix('+').unwrap_or(token)),
    };
    let (base, digits) = match digits.strip_prefix("0X") {
        Some(hexadecimal) => (16, hexadecimal),
        None if digits.len() > 1 && digits.starts_with('0') => (8, &digits[1..]),
        None => (10, digits),
    };
    if !digits.starts_with(|c: char| c.is_digit(base)) {
        return None;
    }
    let value = i64::from_str_radix(digits, base).ok()?;
    Some(if negative { -value } else { value })
}

impl Value for Option<VisibleDevices> {
    const FORM: &'static str = "GPU indexes or GPU- identifiers separated by commas";
    const EMPTY_IS_A_VALUE: bool = true;

    fn from_item(item: &Item) -> Option<Self> {
        item.as_str().map(|text| Some(VisibleDevices::parse(text)))
    }

    fn from_text(text: &OsStr, _dialect: Dialect) -> Option<Self> {
        text.to_str().map(|text| Some(VisibleDevices::parse(text)))
    }

    fn show(&self) -> String {
        quoted(
            &self
                .as_ref()
                .map_or_else(|| "all".to_owned(), |list| list.0.join(",")),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDS: [u64; 4] = [
        0x4a00_0000_0000_0001,
        0x4a00_0000_0000_0002,
        0,
        0xffff_0000_0000_0000,
    ];

    fn chosen(text: &str) -> Vec<usize> {
        VisibleDevices::parse(text).choose(&IDS).gpus
    }

    #[test]
    fn indexes_select_and_reorder() {
        assert_eq!(chosen("3,0"), [3, 0]);
        assert_eq!(chosen(" 1 , 0x2 ,00 "), [1, 2, 0]);
    }

    #[test]
    fn identifiers_match_by_beginning() {
        assert_eq!(chosen("gpu-4A00000000000002,GPU-f"), [1, 3]);
        assert_eq!(chosen("GPU-4a"), [0; 0]);
        assert_eq!(chosen("GPU-0"), [0; 0]);
    }

    #[test]
    fn the_first_bad_token_ends_the_list() {
        for (list, left) in [
            ("0,9,1", vec![0]),
            ("0,-1,1", vec![0]),
            ("0,x,1", vec![0]),
            ("0,1,0,2", vec![0, 1]),
            ("0,,1", vec![0]),
            ("0,08,1", vec![0]),
            ("1,GPU-,0", vec![1]),
            ("1,GPU-00000000000000000,0", vec![1]),
        ] {
            let visible = VisibleDevices::parse(list).choose(&IDS);
            assert_eq!(visible.gpus, left, "{list}");
            assert!(visible.stopped_at.is_some(), "{list}");
        }
    }

    #[test]
    fn an_empty_list_hides_every_gpu() {
        assert_eq!(VisibleDevices::parse("").choose(&IDS), Visible::default());
    }
}
