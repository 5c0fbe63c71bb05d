//! Every call fails once with each plausible errno: the right error, nothing left in the books, and the next
//! round works.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod support;

use hansa_plugin_api as api;
use hansa_plugin_api::{Driver, ErrorCode, ExportKind, ImportRequest};
use hansa_vxdna::{Books, Errno, NpuSpec, Personality};
use hansa_xdna::config::{CacheFlush, Config};
use support::design::{loopback, Code};
use support::queue::{contents, filled, Kernel, SignalBlock, TestQueue};
use support::{request, Rig, HEAP, KERNARG, PLAIN};

/// What a kernel answers when it refuses.
const ERRNOS: [Errno; 8] = [
    Errno::NOMEM,
    Errno::INVAL,
    Errno::PERM,
    Errno::BUSY,
    Errno::NODEV,
    Errno::NOSPC,
    Errno::AGAIN,
    Errno::IO,
];

fn spec(personality: Personality) -> NpuSpec {
    NpuSpec {
        personality,
        ..NpuSpec::npu1()
    }
}

fn rig(personality: Personality) -> Rig {
    let config = Config {
        cache_flush: CacheFlush::Kernel,
        ..Config::default()
    };
    Rig::closed(&[spec(personality)], config)
}

/// Memory of every bank, allocated and freed, exported and imported.
fn use_memory(rig: &Rig) -> api::Result<()> {
    let mut made = Vec::new();
    let outcome = (|| {
        for bank in [KERNARG, HEAP, PLAIN] {
            made.push(rig.driver.allocate(&request(0, bank, 8192))?.handle);
        }
        let aligned = api::AllocRequest {
            alignment: 1 << 16,
            ..request(0, PLAIN, 4096)
        };
        made.push(rig.driver.allocate(&aligned)?.handle);
        let shared = rig.driver.export_memory(made[2], ExportKind::DMA_BUF)?;
        let imported = rig.driver.import_memory(&ImportRequest {
            shared,
            bytes: 0,
            nodes: api::RSlice::from_slice(&[0]),
        });
        // SAFETY: the export gave the descriptor away.
        unsafe { libc::close(i32::from_ne_bytes(shared.words[0].to_ne_bytes())) };
        made.push(imported?.handle);
        Ok(())
    })();
    for handle in made {
        rig.driver.free(handle).unwrap();
    }
    outcome
}

/// Two dispatches at once and one of another image. Answers the words of the error that ended the queue.
fn use_queue(rig: &Rig) -> Result<(), String> {
    let (input, output) = (filled(rig, &[1, 2, 3, 4]), rig.allocate(PLAIN, 16));
    let code = Code::new(3, false).copy(4, 0, 1).finish();
    let kernels = [0; 2].map(|_| Kernel::new(rig, &loopback(), &code, &[input, output]));
    let queue = TestQueue::new(rig);
    // Nobody tells anybody: the thread that rang would wait for it.
    queue.inactive.set(0);
    let signal = SignalBlock::new(3);
    rig.host.log.lock().unwrap().clear();
    std::thread::scope(|scope| {
        let ringing = scope.spawn(|| {
            queue.put(&kernels[0].packet(signal.handle()));
            queue.submit(&kernels[0].packet(signal.handle()));
            queue.submit(&kernels[1].packet(signal.handle()));
        });
        while !ringing.is_finished() {
            if queue.inactive.value() > 0 {
                assert_eq!(queue.inactive.value(), 0x1000, "the device did nothing wrong");
                queue.inactive.set(-1);
            }
            std::thread::yield_now();
        }
    });
    rig.driver.destroy_queue(queue.name).unwrap();
    let log = rig.host.log.lock().unwrap().join("\n");
    let outcome = if queue.inactive.value() == 0 {
        assert_eq!(signal.value(), 0, "{log}");
        assert_eq!(contents(&output, 4), [1, 2, 3, 4]);
        Ok(())
    } else {
        assert_ne!(signal.value(), 0, "{log}");
        Err(log)
    };
    for made in [input, output]
        .into_iter()
        .chain(kernels.iter().flat_map(|k| [k.image, k.code]))
    {
        rig.driver.free(made.handle).unwrap();
    }
    outcome
}

/// Calls of one round, and how often each is made.
fn calls(rig: &Rig, round: impl Fn(&Rig)) -> Vec<(String, u32)> {
    let before = rig.system.faults.counts();
    round(rig);
    let after = rig.system.faults.counts().into_iter();
    let more = after.map(|(call, count)| {
        let more = count - before.get(&call).copied().unwrap_or(0);
        (call, more)
    });
    more.filter(|(_, count)| *count > 0).collect()
}

#[test]
fn each_call_about_memory_fails_and_the_next_round_works() {
    let rig = rig(Personality::Mainline);
    rig.driver.open().unwrap();
    use_memory(&rig).unwrap();
    let before = rig.system.books();
    let calls = calls(&rig, |rig| use_memory(rig).unwrap());
    let names: Vec<&str> = calls.iter().map(|(call, _)| call.as_str()).collect();
    assert_eq!(
        names,
        [
            "CREATE_BO",
            "GEM_CLOSE",
            "GET_BO_INFO",
            "PRIME_FD_TO_HANDLE",
            "PRIME_HANDLE_TO_FD",
            "mmap accel",
            "mmap nothing",
            "munmap"
        ]
    );
    let mut kept = 0;
    for (call, times) in &calls {
        for errno in ERRNOS {
            for after in 0..*times {
                let name = format!("{call} number {after} with {errno}");
                rig.system.faults.once_after(call, errno, after);
                let outcome = use_memory(&rig);
                assert_eq!(rig.system.faults.clear(), 0, "{name} was not reached");
                match outcome {
                    // A handle is given back later, and address space that the system keeps is no matter for a program.
                    Ok(()) => assert!(
                        ["GEM_CLOSE", "munmap"].contains(&call.as_str()),
                        "{name} passed unseen"
                    ),
                    Err(error) => {
                        let full = call == "CREATE_BO"
                            && [Errno::NOSPC, Errno::AGAIN].contains(&errno)
                            && after == 1;
                        let expected = if full {
                            ErrorCode::OUT_OF_RESOURCES
                        } else {
                            api::Error::os(errno.raw_os_error(), "", "").code
                        };
                        assert_eq!(error.code, expected, "{name}: {error}");
                    }
                }
                kept += usize::from(call == "munmap");
                use_memory(&rig).unwrap_or_else(|error| panic!("after {name}: {error}"));
                let now = rig.system.books();
                assert_eq!(
                    (now.files, now.buffers, now.contexts),
                    (1, before.buffers, 0),
                    "{name}"
                );
                // What `munmap` refused stays mapped, and nothing else does.
                assert!(now.mapped <= before.mapped + kept * (1 << 17), "{name}: {now:?}");
                assert!(kept != 0 || now.mapped == before.mapped, "{name}: {now:?}");
            }
        }
    }
    rig.assert_no_complaints();
    rig.driver.close().unwrap();
    assert_eq!(rig.system.books().buffers, 0);
}

#[test]
fn each_call_about_queues_fails_and_the_next_queue_works() {
    for personality in [Personality::OutOfTree, Personality::Mainline] {
        let rig = rig(personality);
        rig.driver.open().unwrap();
        use_queue(&rig).unwrap();
        let before = rig.system.books();
        let calls = calls(&rig, |rig| use_queue(rig).unwrap());
        let wait = match personality {
            Personality::OutOfTree => "WAIT_CMD",
            Personality::Mainline => "SYNCOBJ_TIMELINE_WAIT",
        };
        for call in [
            "CREATE_HWCTX",
            "CONFIG_HWCTX",
            "EXEC_CMD",
            "SYNC_BO",
            "DESTROY_HWCTX",
            wait,
        ] {
            let times = calls.iter().find(|(name, _)| name == call).unwrap().1;
            for errno in ERRNOS {
                // To a kernel that says so of a context there is none to take down.
                let is_gone = (call, errno) == ("DESTROY_HWCTX", Errno::INVAL);
                for after in 0..if is_gone { 0 } else { times } {
                    let name = format!("{call} number {after} with {errno}");
                    rig.system.faults.once_after(call, errno, after);
                    let outcome = use_queue(&rig);
                    assert_eq!(rig.system.faults.clear(), 0, "{name} was not reached");
                    match outcome {
                        // A device whose last column is not for contexts: fewer are tried. A context that is there still goes
                        // with the next one.
                        Ok(()) => assert!(
                            call == "DESTROY_HWCTX" || (call, errno) == ("CREATE_HWCTX", Errno::INVAL),
                            "{name} passed unseen"
                        ),
                        Err(log) => {
                            assert!(
                                log.contains(&format!("{call} failed at /dev/accel/accel0")),
                                "{name}: {log}"
                            );
                        }
                    }
                    use_queue(&rig).unwrap_or_else(|error| panic!("after {name}: {error}"));
                    let now = rig.system.books();
                    assert_eq!(now, before, "{name}");
                }
            }
        }
        rig.assert_no_complaints();
        rig.driver.close().unwrap();
        assert_eq!(rig.system.books(), Books::default());
    }
}

/// Opening: each call fails with each errno, and the driver opens afterwards, or did without what it asked for.
#[test]
fn each_call_of_opening_fails_and_the_next_try_works() {
    let probe = rig(Personality::Mainline);
    probe.driver.open().unwrap();
    let calls = probe.system.faults.counts();
    for needed in ["VERSION", "GET_INFO", "open /dev/accel/accel0", "list /dev/accel"] {
        assert!(calls.contains_key(needed), "{needed}: {calls:?}");
    }
    for (call, times) in calls {
        for errno in ERRNOS {
            for after in 0..times {
                let name = format!("{call} number {after} with {errno}");
                let rig = rig(Personality::Mainline);
                rig.system.faults.once_after(&call, errno, after);
                let outcome = rig.driver.open();
                assert_eq!(rig.system.faults.clear(), 0, "{name} was not reached");
                // The files of sysfs and the clocks are for people.
                let optional = call.starts_with("read ") || (call == "GET_INFO" && after == 2);
                assert_eq!(outcome.is_ok(), optional, "{name}: {outcome:?}");
                if outcome.is_err() {
                    assert_eq!(rig.system.books(), Books::default(), "{name}");
                    rig.driver.open().unwrap();
                }
                use_memory(&rig).unwrap();
                rig.driver.close().unwrap();
                assert_eq!(rig.system.books(), Books::default(), "{name}");
                rig.assert_no_complaints();
            }
        }
    }
}

/// Interrupted calls are called again.
#[test]
fn a_storm_of_signals_changes_nothing() {
    let rig = rig(Personality::OutOfTree);
    for call in [
        "CREATE_BO",
        "CREATE_HWCTX",
        "EXEC_CMD",
        "WAIT_CMD",
        "GET_INFO",
        "open /dev/accel/accel0",
    ] {
        for _ in 0..20 {
            rig.system.faults.once(call, Errno::INTR);
        }
    }
    rig.driver.open().unwrap();
    use_queue(&rig).unwrap();
    assert_eq!(rig.system.faults.clear(), 0);
}
