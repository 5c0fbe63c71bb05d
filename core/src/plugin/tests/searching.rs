//! What the search finds, and in which order.

use std::fs;
use std::os::unix::fs::{symlink, PermissionsExt};

use hansa_plugin_api::manifest::PluginFacts;

use super::support::{roots, Hardware, BASE};
use crate::config::tests::Root;
use crate::plugin::*;

fn manifest(id: &str, version: &str) -> String {
    let facts = PluginFacts {
        id: "org.test.file",
        version: "1.0.0",
        ..BASE
    };
    let mut facts = Facts::of(&facts).unwrap();
    facts.id = id.to_owned();
    facts.version = version.parse().unwrap();
    facts.to_toml("lib.so")
}

fn find(root: &Root, variables: &[(&str, &str)], builtins: &[BuiltIn]) -> Plugins {
    Plugins::find(roots(root), &root.load(variables, false), false, builtins)
}

fn found(plugins: &Plugins, root: &Root) -> Vec<String> {
    let text = |candidate: &Candidate| {
        let code = serde_json::to_value(&candidate.reason).unwrap()["code"]
            .as_str()
            .unwrap_or("-")
            .to_owned();
        let source = candidate.source.to_string().replace(root.0.to_str().unwrap(), "");
        format!("{source} {} {code}", candidate.name)
    };
    plugins.candidates().iter().map(text).collect()
}

#[test]
fn files_are_found_in_the_order_of_the_search_and_in_byte_order() {
    let root = Root::new("order");
    for (path, id) in [
        ("usr/lib/hansa/plugins.d/50-a.d.toml", "a.d"),
        ("runtime/50-a.c.toml", "a.c"),
        ("runtime/notes.toml", "a.x"),
        ("runtime/hansa/plugins.d/50-a.c2.toml", "a.c2"),
        ("etc/hansa/plugins.d/60-a.b2.toml", "a.b2"),
        ("etc/hansa/plugins.d/50-a.b.toml", "a.b"),
        ("home/.config/hansa/plugins.d/50-a.a.toml", "a.a"),
    ] {
        root.write(path, &manifest(id, "1.0.0"));
    }
    let plugins = find(&root, &[], &[BuiltIn::of::<Hardware>()]);
    let expected = [
        "/home/.config/hansa/plugins.d/50-a.a.toml a.a -",
        "/etc/hansa/plugins.d/50-a.b.toml a.b -",
        "/etc/hansa/plugins.d/60-a.b2.toml a.b2 -",
        "/runtime/50-a.c.toml a.c -",
        "/runtime/hansa/plugins.d/50-a.c2.toml a.c2 -",
        "/usr/lib/hansa/plugins.d/50-a.d.toml a.d -",
        "built in org.test.hw -",
    ];
    assert_eq!(found(&plugins, &root), expected);
}

#[test]
fn the_first_file_of_a_name_wins_and_a_link_to_dev_null_masks() {
    let root = Root::new("names");
    root.write("etc/hansa/plugins.d/50-a.a.toml", &manifest("a.a", "1.0.0"));
    root.write("usr/lib/hansa/plugins.d/50-a.a.toml", &manifest("a.a", "9.0.0"));
    root.write("usr/lib/hansa/plugins.d/50-a.m.toml", &manifest("a.m", "1.0.0"));
    symlink("/dev/null", root.0.join("etc/hansa/plugins.d/50-a.m.toml")).unwrap();
    symlink(
        "/dev/null",
        root.0.join("etc/hansa/plugins.d/50-org.test.hw.toml"),
    )
    .unwrap();
    let plugins = find(&root, &[], &[BuiltIn::of::<Hardware>()]);
    let expected = [
        "/etc/hansa/plugins.d/50-a.a.toml a.a -",
        "/usr/lib/hansa/plugins.d/50-a.a.toml a.a shadowed",
        "/usr/lib/hansa/plugins.d/50-a.m.toml a.m masked",
        "built in org.test.hw masked",
    ];
    assert_eq!(found(&plugins, &root), expected);
}

#[test]
fn what_is_named_comes_first_or_alone() {
    let root = Root::new("named");
    root.write("add/50-a.a.toml", &manifest("a.a", "1.0.0"));
    root.write("one/whatever.toml", &manifest("a.one", "1.0.0"));
    root.write("etc/hansa/plugins.d/50-a.b.toml", &manifest("a.b", "1.0.0"));
    let add = root.0.join("add").into_os_string().into_string().unwrap();
    let one = root
        .0
        .join("one/whatever.toml")
        .into_os_string()
        .into_string()
        .unwrap();
    let plugins = find(&root, &[("HANSA_PLUGIN_ADD", &format!("{add}:{one}"))], &[]);
    let expected = [
        "/add/50-a.a.toml a.a -",
        "/one/whatever.toml a.one -",
        "/etc/hansa/plugins.d/50-a.b.toml a.b -",
    ];
    assert_eq!(found(&plugins, &root), expected);
    let plugins = find(
        &root,
        &[("HANSA_PLUGIN_FILES", &one)],
        &[BuiltIn::of::<Hardware>()],
    );
    assert_eq!(found(&plugins, &root), ["/one/whatever.toml a.one -"]);
}

#[test]
fn a_named_library_is_judged_by_its_note() {
    let root = Root::new("library");
    let exe = std::env::current_exe()
        .unwrap()
        .into_os_string()
        .into_string()
        .unwrap();
    let plugins = find(
        &root,
        &[("HANSA_PLUGIN_FILES", &format!("{exe}:/nowhere/x.so"))],
        &[],
    );
    let codes: Vec<String> = found(&plugins, &root)
        .iter()
        .map(|text| text.rsplit(' ').next().unwrap().to_owned())
        .collect();
    assert_eq!(codes, ["no-note", "library-unreadable"]);
}

#[test]
fn what_everybody_may_write_to_is_not_trusted() {
    let root = Root::new("writable");
    root.write("etc/hansa/plugins.d/50-a.a.toml", &manifest("a.a", "1.0.0"));
    root.write("usr/lib/hansa/plugins.d/50-a.b.toml", &manifest("a.b", "1.0.0"));
    let mode = |path: &str, mode| {
        fs::set_permissions(root.0.join(path), fs::Permissions::from_mode(mode)).unwrap();
    };
    mode("etc/hansa/plugins.d/50-a.a.toml", 0o646);
    mode("usr/lib/hansa/plugins.d", 0o777);
    let plugins = find(&root, &[], &[]);
    let paths: Vec<String> = plugins
        .candidates()
        .iter()
        .map(|candidate| match &candidate.reason {
            Some(Reason::WorldWritable { path }) => {
                path.display().to_string().replace(root.0.to_str().unwrap(), "")
            }
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(
        paths,
        ["/etc/hansa/plugins.d/50-a.a.toml", "/usr/lib/hansa/plugins.d"]
    );
}

#[test]
fn broken_manifests_go_by_the_name_of_their_file() {
    let root = Root::new("broken");
    root.write("etc/hansa/plugins.d/50-a.a.toml", "format = 7\n");
    root.write("etc/hansa/plugins.d/b.toml", &manifest("a.b", "1.0.0"));
    root.write("etc/hansa/plugins.d/60-a.c.toml", &manifest("a.d", "1.0.0"));
    let plugins = find(&root, &[("HANSA_BACKENDS", "a.a")], &[]);
    let expected = [
        "/etc/hansa/plugins.d/50-a.a.toml a.a manifest-newer",
        "/etc/hansa/plugins.d/60-a.c.toml a.d not-selected",
        "/etc/hansa/plugins.d/b.toml b.toml manifest-name",
    ];
    assert_eq!(found(&plugins, &root), expected);
    assert_eq!(
        plugins.candidates()[1].warnings,
        ["the file name says a.c, and the manifest a.d"]
    );
    assert!(plugins
        .verdict()
        .unwrap_err()
        .to_string()
        .starts_with("HANSA_BACKENDS asks for a.a: The manifest"));
}

#[test]
fn a_directory_that_is_named_twice_is_searched_once() {
    let root = Root::new("twice");
    root.write("runtime/hansa/plugins.d/50-a.a.toml", &manifest("a.a", "1.0.0"));
    let add = root
        .0
        .join("runtime/hansa/plugins.d")
        .into_os_string()
        .into_string()
        .unwrap();
    let plugins = find(&root, &[("HANSA_PLUGIN_ADD", &add)], &[]);
    assert_eq!(
        found(&plugins, &root),
        ["/runtime/hansa/plugins.d/50-a.a.toml a.a -"]
    );
}

#[test]
fn a_secure_program_does_not_look_where_its_caller_says() {
    let root = Root::new("secure");
    root.write("add/50-a.a.toml", &manifest("a.a", "1.0.0"));
    root.write(
        "home/.config/hansa/plugins.d/50-a.b.toml",
        &manifest("a.b", "1.0.0"),
    );
    let add = root.0.join("add").into_os_string().into_string().unwrap();
    let config = root.load(&[("HANSA_PLUGIN_ADD", &add), ("HANSA_PLUGIN_FILES", &add)], true);
    let roots = Roots {
        user: None,
        ..roots(&root)
    };
    let plugins = Plugins::find(roots, &config, true, &[]);
    assert_eq!(found(&plugins, &root), [""; 0]);
    let report = plugins.report();
    assert!(report.secure);
    for name in ["HANSA_PLUGIN_ADD", "HANSA_PLUGIN_FILES", "HOME"] {
        let text = format!("{name}: ignored: this program runs with more rights than its caller");
        assert!(report.warnings.contains(&text), "{:?}", report.warnings);
    }
}
