//! Switching plugins on and off in a configuration file, leaving everything else in it as it stands.

use toml_edit::{Array, DocumentMut, Item, Table, Value};

/// Changes `[plugins] enable` and `disable` in the text of a configuration file, so that a plugin serves from now on, or no
/// longer. Comments, order and other keys stay.
///
/// # Errors
///
/// What is wrong with the text, with its place.
pub fn switch_plugin(text: &str, id: &str, on: bool) -> Result<String, String> {
    let mut document: DocumentMut = text.parse().map_err(|e: toml_edit::TomlError| e.to_string())?;
    let plugins = document
        .entry("plugins")
        .or_insert_with(|| Item::Table(Table::new()));
    let table = plugins.as_table_like_mut().ok_or("plugins: expected a table")?;
    for (key, wanted) in [("enable", on), ("disable", !on)] {
        if !wanted && !table.contains_key(key) {
            continue;
        }
        let list = table
            .entry(key)
            .or_insert_with(|| Item::Value(Value::Array(Array::new())));
        let list = list
            .as_array_mut()
            .ok_or_else(|| format!("plugins.{key}: expected a list of ids"))?;
        list.retain(|value| value.as_str() != Some(id));
        if wanted {
            list.push(id);
        }
    }
    Ok(document.to_string())
}

#[cfg(test)]
mod tests {
    use super::switch_plugin;

    #[test]
    fn a_plugin_is_in_one_list_only_and_the_rest_stays() {
        let text = "# mine\n[plugins]\ndisable = [\"org.a\", \"org.b\"] # both\n\n[debug]\nlevel = 1\n";
        let changed = switch_plugin(text, "org.a", true).unwrap();
        assert_eq!(
            changed,
            "# mine\n[plugins]\ndisable = [ \"org.b\"] # both\nenable = [\"org.a\"]\n\n[debug]\nlevel = 1\n"
        );
        let back = switch_plugin(&changed, "org.a", false).unwrap();
        assert!(
            back.contains("disable = [ \"org.b\", \"org.a\"]") && back.contains("enable = []"),
            "{back}"
        );
    }

    #[test]
    fn an_empty_file_gets_the_table() {
        assert_eq!(
            switch_plugin("", "org.a", false).unwrap(),
            "[plugins]\ndisable = [\"org.a\"]\n"
        );
    }

    #[test]
    fn a_wrong_type_is_named() {
        assert_eq!(
            switch_plugin("plugins = 1\n", "org.a", true).unwrap_err(),
            "plugins: expected a table"
        );
        assert!(switch_plugin("[plugins\n", "org.a", true)
            .unwrap_err()
            .contains("line 1"));
    }
}
