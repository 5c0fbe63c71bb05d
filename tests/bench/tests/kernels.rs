//! The committed kernels are what their sources say.

use std::path::Path;
use std::process::Command;

#[test]
fn a_new_build_of_the_kernels_equals_the_committed_one() {
    let kernels = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/kernels");
    let fresh = Path::new(env!("CARGO_TARGET_TMPDIR")).join("kernels");
    std::fs::create_dir_all(&fresh).expect("a directory");
    let output = Command::new(kernels.join("build"))
        .arg(&fresh)
        .output()
        .expect("the script can be run");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let objects = |directory: &Path| -> Vec<_> {
        let mut names: Vec<_> = directory
            .read_dir()
            .expect("a directory")
            .map(|entry| entry.expect("an entry").file_name())
            .filter(|name| Path::new(name).extension().is_some_and(|e| e == "co"))
            .collect();
        names.sort();
        names
    };
    let names = objects(&kernels);
    assert_eq!(objects(&fresh), names);
    for name in names {
        let read = |directory: &Path| std::fs::read(directory.join(&name)).expect("a code object");
        assert!(
            read(&fresh) == read(&kernels),
            "{} is not what its source says",
            name.display()
        );
    }
}
