//! A program that uses a GPU through `/dev/kfd` while the kernel refuses: each request fails once, at its first, a middle and
//! its last call, with errnos that a kernel has for it. The step that needed it fails with a status or finds a way around,
//! the same step works when it is made again, and at the end the kernel has everything back.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Output;

use hansa_tests::artifacts::{libraries, scratch_dir};
use hansa_tests::hsa_client::{program, ready};
use hansa_tests::kernels::code_objects;
use hansa_tests::side::Side;

/// One run of the client.
struct Run {
    output: Output,
    /// What the kernel's books say at the end, and calls by name.
    books: BTreeMap<String, u64>,
    calls: BTreeMap<String, u64>,
}

impl Run {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.output.stdout).into_owned()
            + &String::from_utf8_lossy(&self.output.stderr)
    }

    /// Whether no step had to be made again.
    fn is_unrefused(&self) -> bool {
        self.text().lines().any(|line| line == "0 refused")
    }

    fn book(&self, name: &str) -> u64 {
        self.books.get(name).copied().unwrap_or(u64::MAX)
    }
}

fn run(machine: &str, gpus: usize, variables: &[(&str, &str)], more: &[&str]) -> Run {
    let books: PathBuf = scratch_dir("books").join(format!("{:?}", std::thread::current().id()));
    let mut command = Side::Kfd.command(machine, &program("devices"));
    command
        .arg(code_objects())
        .arg(gpus.to_string())
        .args(more)
        .env("VKERNEL_BOOKS", &books)
        .envs(variables.iter().copied());
    let output = command.output().expect("timeout is a part of every system");
    let text = std::fs::read_to_string(&books).unwrap_or_default();
    let mut run = Run {
        output,
        books: BTreeMap::new(),
        calls: BTreeMap::new(),
    };
    for line in text.lines() {
        let (name, rest) = line.split_once(' ').expect("Books are NAME NUMBER");
        let number = |text: &str| text.parse::<u64>().expect("Books have numbers");
        if name == "call" {
            let (count, call) = rest.split_once(' ').expect("Calls are NUMBER NAME");
            run.calls.insert(call.to_owned(), number(count));
        } else {
            run.books.insert(name.to_owned(), number(rest));
        }
    }
    run
}

fn assert_good(run: &Run, what: &str) {
    assert!(
        run.output.status.success(),
        "{what}: {}\n{}",
        run.output.status,
        run.text()
    );
    assert_eq!(run.book("queues"), 0, "{what}: queues are left\n{}", run.text());
    assert_eq!(run.book("events"), 0, "{what}: events are left");
    // The event page stays with the process, as the kernel wants it.
    assert!(
        run.book("buffers") <= 1,
        "{what}: {} buffers are left\n{}",
        run.book("buffers"),
        run.text()
    );
    assert_eq!(
        run.book("complaints"),
        0,
        "{what}: the kernel complained\n{}",
        run.text()
    );
}

/// What a kernel answers a request with when it refuses.
fn errnos(call: &str) -> &'static [i32] {
    match call {
        "CREATE_QUEUE" => &[libc::ENOMEM, libc::EINVAL, libc::EPERM],
        "CREATE_EVENT" => &[libc::ENOSPC, libc::ENOMEM],
        "ALLOC_MEMORY_OF_GPU" | "MAP_MEMORY_TO_GPU" => &[libc::ENOMEM, libc::EINVAL],
        "WAIT_EVENTS" => &[libc::EIO],
        call if call.starts_with("open") => &[libc::EACCES, libc::ENOMEM],
        call if call.starts_with("mmap") => &[libc::ENOMEM],
        _ => &[libc::EINVAL, libc::ENODEV],
    }
}

#[test]
fn each_request_fails_once_and_the_next_works() {
    if !ready() {
        return;
    }
    let well = run("gfx900", 1, &[], &[]);
    assert_good(&well, "without failures");
    assert!(well.is_unrefused(), "{}", well.text());
    let requests = well
        .calls
        .iter()
        .filter(|(call, _)| !call.starts_with("read ") && !call.starts_with("list "));
    let mut cells = 0;
    let mut wrong = String::new();
    for (call, &count) in requests {
        let mut places = vec![0, count / 2, count.saturating_sub(1)];
        places.dedup();
        for &errno in errnos(call) {
            for &after in &places {
                let script = format!("{call}={errno}+{after}");
                let refused = run("gfx900", 1, &[("VKERNEL_FAULTS", &script)], &[]);
                let outcome = std::panic::catch_unwind(|| assert_good(&refused, &script));
                if outcome.is_err() {
                    wrong += &format!("{script}\n");
                }
                cells += 1;
            }
        }
    }
    assert!(wrong.is_empty(), "{cells} cells, wrong:\n{wrong}");
    assert!(cells > 60, "{cells} cells");
}

/// A queue that the kernel does not let go of, asked twice, keeps what it uses until the driver is closed, which asks again;
/// the program goes on.
#[test]
fn a_queue_that_the_kernel_keeps_harms_nobody() {
    if !ready() {
        return;
    }
    let requests = |run: &Run| run.calls.get("DESTROY_QUEUE").copied().unwrap_or(0);
    let well = run("gfx900", 1, &[], &[]);
    for after in [0, 1] {
        let faults = format!("DESTROY_QUEUE=22x2+{after}");
        let kept = run("gfx900", 1, &[("VKERNEL_FAULTS", &faults)], &[]);
        assert_good(&kept, &faults);
        assert!(kept.is_unrefused(), "{faults}: {}", kept.text());
        assert_eq!(requests(&kept), requests(&well) + 2, "{faults}");
    }
}

/// Without events a program's waits end all the same.
#[test]
fn a_kernel_without_events_serves() {
    if !ready() {
        return;
    }
    for faults in [
        "CREATE_EVENT=28x1000000",
        "CREATE_EVENT=28x1000000+3",
        "CREATE_EVENT=12x1000000+4",
    ] {
        let run = run("gfx900", 1, &[("VKERNEL_FAULTS", faults)], &[]);
        assert_good(&run, faults);
        assert!(run.is_unrefused(), "{faults}: {}", run.text());
    }
    let run = run("gfx900", 1, &[("HSA_ENABLE_INTERRUPT", "0")], &[]);
    assert_good(&run, "HSA_ENABLE_INTERRUPT=0");
}

#[test]
fn interrupted_calls_go_on() {
    if !ready() {
        return;
    }
    let every = "open *=4x3;ALLOC_MEMORY_OF_GPU=4x40;MAP_MEMORY_TO_GPU=4x40;UNMAP_MEMORY_FROM_GPU=4x40;\
                 FREE_MEMORY_OF_GPU=4x40;CREATE_QUEUE=4x40;DESTROY_QUEUE=4x40;CREATE_EVENT=4x40;\
                 WAIT_EVENTS=4x400;SET_EVENT=4x40;ACQUIRE_VM=4x40;GET_VERSION=4x40";
    let interrupted = run("gfx900", 1, &[("VKERNEL_FAULTS", every)], &[]);
    assert_good(&interrupted, every);
    assert!(interrupted.is_unrefused(), "{}", interrupted.text());
    let storm = run("gfx900", 1, &[], &["storm"]);
    assert_good(&storm, "a signal every millisecond");
    assert!(storm.is_unrefused(), "{}", storm.text());
}

/// Every processor that the driver knows, each alone and some together: memory, copies, queues.
#[test]
fn every_processor_serves() {
    if !ready() {
        return;
    }
    let names: Vec<String> = hansa_kfd::chip::CHIPS
        .iter()
        .filter(|chip| chip.target.major >= 9)
        .map(|chip| chip.target.to_string())
        .collect();
    assert!(names.len() > 20, "{names:?}");
    for name in &names {
        assert_good(&run(name, 1, &[], &[]), name);
    }
    let several = "gfx900,gfx90a,gfx1030,gfx1100,gfx942";
    assert_good(&run(several, 5, &[], &[]), several);
}

/// What is wrong with one GPU hides that one.
#[test]
fn the_others_compute() {
    if !ready() {
        return;
    }
    for (fault, words) in [
        ("open /dev/dri/renderD129=2x1000", "renderD129"),
        ("open /dev/dri/renderD129=13x1000", "renderD129"),
        ("ACQUIRE_VM=22+1", "ACQUIRE_VM"),
    ] {
        let run = run("gfx900,gfx906,gfx900", 2, &[("VKERNEL_FAULTS", fault)], &[]);
        assert_good(&run, fault);
        let mut doctor = Side::Kfd.command("gfx900,gfx906,gfx900", &libraries().join("hansa"));
        doctor.arg("doctor").env("VKERNEL_FAULTS", fault);
        let output = doctor.output().expect("timeout is a part of every system");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            text.contains(words),
            "{fault}: {text}\n{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}

/// The check that people with hardware run works, as it stands in its page.
#[test]
fn the_hardware_check_passes_on_the_virtual_kernel() {
    if !ready() {
        return;
    }
    let page = include_str!("../../docs/hardware-check.md");
    let script = page
        .split("```sh\n")
        .nth(1)
        .and_then(|rest| rest.split("```").next());
    let dir = scratch_dir("hardware-check");
    let file = dir.join("check.sh");
    std::fs::write(&file, script.expect("The page has a script"))
        .expect("The target directory can be written");
    let mut command = Side::Kfd.command("gfx900", std::path::Path::new("sh"));
    command
        .arg(&file)
        .env("HANSA", libraries().join("hansa"))
        .env("OUT", dir.join("check.txt"));
    let output = command.output().expect("timeout is a part of every system");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let details = std::fs::read_to_string(dir.join("check.txt")).unwrap_or_default();
    assert!(text.starts_with("5 of 5 checks passed"), "{text}\n{details}");
    assert_eq!(
        details.matches("all 1000000 sums are right").count(),
        3,
        "{details}"
    );
}
