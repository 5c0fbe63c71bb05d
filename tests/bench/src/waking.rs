//! How long sleepers take to hear of a signal: a thread that waits, and the thread that calls handlers, beside a thread
//! that sleeps on a futex of its own. And how long a large code object takes to load.

use crate::call;
use crate::client::{good, Client, Result};
use crate::report::{median_us, Row};
use hansa_plugin_api::hsa::*;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{channel, Receiver, Sender};
use std::time::{Duration, Instant};

/// Wakes that are measured, and how long the sleeper is left alone before each, so that it sleeps.
const WAKES: u32 = 300;
const ALONE: Duration = Duration::from_micros(300);

/// Nanoseconds since the first call.
fn now() -> u64 {
    use std::sync::OnceLock;
    static BEGIN: OnceLock<Instant> = OnceLock::new();
    u64::try_from(BEGIN.get_or_init(Instant::now).elapsed().as_nanos()).unwrap_or(u64::MAX)
}

/// The time from `wake` to what the sleeper answers, in microseconds. `sleep` sleeps in a thread of its own, once for
/// each wake, and answers when it awoke.
fn measure(sleep: impl Fn(u32) -> u64 + Send, wake: impl Fn(u32)) -> f64 {
    let (awake, awoken) = channel();
    std::thread::scope(|threads| {
        threads.spawn(move || (1..=WAKES).try_for_each(|turn| awake.send(sleep(turn))));
        wakes(wake, &awoken)
    })
}

/// The time from `wake` to when somebody awoke, in microseconds.
fn wakes(wake: impl Fn(u32), awoken: &Receiver<u64>) -> f64 {
    let mut times = Vec::new();
    for turn in 1..=WAKES {
        std::thread::sleep(ALONE);
        let begun = now();
        wake(turn);
        if let Ok(woken) = awoken.recv() {
            times.push(Duration::from_nanos(woken.saturating_sub(begun)));
        }
    }
    median_us(times)
}

/// A futex alone.
fn futex() -> f64 {
    let word = AtomicU32::new(0);
    let operation = |operation: i32, value: u32| {
        // SAFETY: the word outlives the call; the other arguments are numbers.
        unsafe {
            libc::syscall(
                libc::SYS_futex,
                word.as_ptr(),
                operation | libc::FUTEX_PRIVATE_FLAG,
                value,
                0,
                0,
                0,
            )
        };
    };
    measure(
        |turn| {
            while word.load(Ordering::Acquire) != turn {
                operation(libc::FUTEX_WAIT, turn - 1);
            }
            now()
        },
        |turn| {
            word.store(turn, Ordering::Release);
            operation(libc::FUTEX_WAKE, 1);
        },
    )
}

/// From a store to when a thread that slept is awake, in microseconds.
pub(crate) fn waiter(client: &Client) -> Result<f64> {
    let core = &client.core;
    let mut signal = hsa_signal_t { handle: 0 };
    call!(
        client,
        hsa_signal_create_fn(0, 0, std::ptr::null(), &raw mut signal)
    )?;
    let (wait, store) = (
        core.hsa_signal_wait_scacquire_fn,
        core.hsa_signal_store_screlease_fn,
    );
    let waiter = measure(
        move |turn| {
            // SAFETY: a live signal.
            unsafe {
                wait(
                    signal,
                    hsa_signal_condition_t::EQ,
                    turn.into(),
                    u64::MAX,
                    hsa_wait_state_t::BLOCKED,
                )
            };
            now()
        },
        // SAFETY: a live signal.
        |turn| unsafe { store(signal, turn.into()) },
    );
    call!(client, hsa_signal_destroy_fn(signal))?;
    Ok(waiter)
}

/// A thread that waits for a signal, and a handler of one.
pub(crate) fn sleepers(client: &Client) -> Result<Vec<Row>> {
    const PEER: &str = "a futex";
    let waiter = waiter(client)?;
    let alone = futex();
    let handler = handler(client)?;
    Ok(vec![
        Row::against(
            "wake of a blocked waiter",
            waiter,
            "us",
            (PEER, alone),
            2.0,
            "under 2x",
        ),
        Row::against(
            "async handler",
            handler,
            "us",
            ("that wake", waiter),
            2.0,
            "under 2x",
        ),
    ])
}

type Handler = unsafe extern "C" fn(hsa_signal_value_t, *mut c_void) -> bool;
type Register = unsafe extern "C" fn(
    hsa_signal_t,
    hsa_signal_condition_t,
    hsa_signal_value_t,
    Handler,
    *mut c_void,
) -> hsa_status_t;

/// What a handler needs: the signal, to take the value away that it was called for, and who wants to know when.
struct Called {
    signal: hsa_signal_t,
    store: unsafe extern "C" fn(hsa_signal_t, hsa_signal_value_t),
    tell: Sender<u64>,
}

unsafe extern "C" fn called(_value: hsa_signal_value_t, data: *mut c_void) -> bool {
    let at = now();
    // SAFETY: `handler` registered this function with a `Called` that is never freed, and with its live signal.
    let called = unsafe { &*data.cast::<Called>() };
    // SAFETY: as above.
    unsafe { (called.store)(called.signal, 0) };
    called.tell.send(at).is_ok()
}

/// From a store to when a handler is called, in microseconds.
pub(crate) fn handler(client: &Client) -> Result<f64> {
    // SAFETY: the type is that of AMD's header.
    let register = unsafe { client.function::<Register>(c"hsa_amd_signal_async_handler") }?;
    let mut signal = hsa_signal_t { handle: 0 };
    call!(
        client,
        hsa_signal_create_fn(0, 0, std::ptr::null(), &raw mut signal)
    )?;
    let store = client.core.hsa_signal_store_screlease_fn;
    let (tell, told) = channel();
    let data = std::ptr::from_mut(Box::leak(Box::new(Called { signal, store, tell })));
    // SAFETY: a live signal, and a handler and its data that are there as long as this program.
    let status = unsafe { register(signal, hsa_signal_condition_t::NE, 0, called, data.cast()) };
    good(status, "hsa_amd_signal_async_handler")?;
    // SAFETY: a live signal.
    Ok(wakes(|turn| unsafe { store(signal, turn.into()) }, &told))
}

/// Where Debian has a library with a code object of 1.6 MB and 80 kernels.
const LARGE: &str = "/usr/lib/x86_64-linux-gnu/librocrand.so.1";

/// The time from a reader to a frozen executable.
pub(crate) fn large_object(client: &Client) -> Result<Vec<Row>> {
    const NAME: &str = "1.6 MB of code with 80 kernels, loaded";
    const GOAL: &str = "under 2 ms";
    let Some(gpu) = client.gpu()? else {
        return Ok(vec![Row::missing(NAME, "ms", GOAL, "there is no GPU")]);
    };
    let Some(code) = code_object(LARGE, &gpu.name) else {
        return Ok(vec![Row::missing(
            NAME,
            "ms",
            GOAL,
            "librocrand1 has no code for this GPU",
        )]);
    };
    let code: &'static [u8] = code.leak();
    let mut times = Vec::new();
    for _ in 0..20 {
        let begun = Instant::now();
        let executable = client.load_code(gpu.agent, code)?;
        times.push(begun.elapsed());
        call!(client, hsa_executable_destroy_fn(executable))?;
    }
    Ok(vec![Row::below(NAME, median_us(times) / 1e3, "ms", 2.0, GOAL)])
}

/// The word at a place, which is behind it afterwards.
fn word(bytes: &[u8], at: &mut usize) -> Option<usize> {
    let word = bytes.get(*at..*at + 8)?;
    *at += 8;
    usize::try_from(u64::from_le_bytes(word.try_into().ok()?)).ok()
}

/// The code object for a processor in a library: an entry of one of clang's bundles, which begin with a magic word and a
/// number of entries, each an offset, a size, and the length and text of its name.
fn code_object(library: &str, processor: &str) -> Option<Vec<u8>> {
    const MAGIC: &[u8] = b"__CLANG_OFFLOAD_BUNDLE__";
    let bytes = std::fs::read(library).ok()?;
    let mut begin = 0;
    loop {
        begin += bytes
            .get(begin..)?
            .windows(MAGIC.len())
            .position(|window| window == MAGIC)?;
        let bundle = &bytes[begin..];
        let mut at = MAGIC.len();
        let count = word(bundle, &mut at)?;
        let mut entries = Vec::new();
        for _ in 0..count {
            let (offset, size) = (word(bundle, &mut at)?, word(bundle, &mut at)?);
            let length = word(bundle, &mut at)?;
            entries.push((offset, size, bundle.get(at..at + length)?));
            at += length;
        }
        let fits = |(_, size, name): &&(usize, usize, &[u8])| {
            let name = String::from_utf8_lossy(name);
            *size > 1 << 20 && name.contains("amdgcn") && name.split(['-', ':']).any(|part| part == processor)
        };
        if let Some((offset, size, _)) = entries.iter().find(fits) {
            return Some(bundle.get(*offset..offset + size)?.to_vec());
        }
        begin += MAGIC.len();
    }
}
