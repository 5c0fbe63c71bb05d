//! The C interface from a program's side, with the agents that need no driver.

use hansa_plugin_api::for_each_core_api;
use hansa_plugin_api::hsa::*;
use hsa_runtime64 as _;
use std::ffi::CStr;
use std::ptr::{null, null_mut};
use std::sync::{Mutex, MutexGuard, PoisonError};

macro_rules! declare {
    ($(($index:literal, $kind:ident, $name:ident, $field:ident, ($($arg:ident: $ty:ty),*), $ret:ty, $doc:literal))*) => {
        #[allow(dead_code, reason = "all functions are declared, not all are needed")]
        extern "C" {
            $(fn $name($($arg: $ty),*) -> $ret;)*
        }
    };
}
for_each_core_api!(declare);

const SUCCESS: hsa_status_t = hsa_status_t::SUCCESS;
const INVALID_ARGUMENT: hsa_status_t = hsa_status_t::ERROR_INVALID_ARGUMENT;
const NOT_INITIALIZED: hsa_status_t = hsa_status_t::ERROR_NOT_INITIALIZED;

/// Calls a function of the interface; every argument is right or one that the interface must refuse.
macro_rules! call {
    ($name:ident($($arg:expr),* $(,)?)) => {
        // SAFETY: the places are there for the length of the call, and wrong values are what is tested.
        unsafe { $name($($arg),*) }
    };
}

/// One runtime at a time: it belongs to the process.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Runtime(#[expect(dead_code, reason = "held")] MutexGuard<'static, ()>);

impl Runtime {
    fn start() -> Self {
        let alone = alone();
        assert_eq!(call!(hsa_init()), SUCCESS);
        Self(alone)
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        call!(hsa_shut_down());
    }
}

extern "C" fn first_agent(agent: hsa_agent_t, data: *mut c_void) -> hsa_status_t {
    // SAFETY: the data is the place that the caller gave.
    unsafe { data.cast::<hsa_agent_t>().write(agent) };
    hsa_status_t::INFO_BREAK
}

extern "C" fn first_region(region: hsa_region_t, data: *mut c_void) -> hsa_status_t {
    // SAFETY: as above.
    unsafe { data.cast::<hsa_region_t>().write(region) };
    hsa_status_t::INFO_BREAK
}

fn cpu() -> hsa_agent_t {
    let mut agent = hsa_agent_t::default();
    let place = (&raw mut agent).cast();
    assert_eq!(
        call!(hsa_iterate_agents(Some(first_agent), place)),
        hsa_status_t::INFO_BREAK
    );
    agent
}

fn region() -> hsa_region_t {
    let mut region = hsa_region_t::default();
    let place = (&raw mut region).cast();
    let status = call!(hsa_agent_iterate_regions(cpu(), Some(first_region), place));
    assert_eq!(status, hsa_status_t::INFO_BREAK);
    region
}

fn signal(value: i64) -> hsa_signal_t {
    let mut signal = hsa_signal_t::default();
    assert_eq!(
        call!(hsa_signal_create(value, 0, null(), &raw mut signal)),
        SUCCESS
    );
    signal
}

fn executable() -> hsa_executable_t {
    let mut executable = hsa_executable_t::default();
    let (base, rounding) = (hsa_profile_t::BASE, hsa_default_float_rounding_mode_t::DEFAULT);
    let status = call!(hsa_executable_create_alt(
        base,
        rounding,
        null(),
        &raw mut executable
    ));
    assert_eq!(status, SUCCESS);
    executable
}

#[test]
fn nothing_works_without_init_but_texts_of_statuses() {
    let _alone = alone();
    let mut word = 0u64;
    let place: *mut c_void = (&raw mut word).cast();
    assert_eq!(call!(hsa_shut_down()), NOT_INITIALIZED);
    assert_eq!(call!(hsa_iterate_agents(None, null_mut())), NOT_INITIALIZED);
    assert_eq!(
        call!(hsa_system_get_info(hsa_system_info_t::TIMESTAMP, place)),
        NOT_INITIALIZED
    );
    assert_eq!(call!(hsa_memory_free(null_mut())), NOT_INITIALIZED);
    let mut text = null();
    assert_eq!(
        call!(hsa_status_string(hsa_status_t::ERROR, &raw mut text)),
        SUCCESS
    );
    // SAFETY: the interface answers with a constant text.
    let text = unsafe { CStr::from_ptr(text) };
    assert!(text.to_str().unwrap().starts_with("HSA_STATUS_ERROR: "));
    let mut untouched = null();
    let unknown = hsa_status_t(0x7777);
    assert_eq!(
        call!(hsa_status_string(unknown, &raw mut untouched)),
        INVALID_ARGUMENT
    );
    assert!(untouched.is_null());
}

#[test]
fn init_counts_and_a_runtime_can_be_made_again() {
    let _alone = alone();
    for _ in 0..2 {
        assert_eq!(call!(hsa_init()), SUCCESS);
        assert_eq!(call!(hsa_init()), SUCCESS);
        assert_eq!(call!(hsa_shut_down()), SUCCESS);
        cpu();
        assert_eq!(call!(hsa_shut_down()), SUCCESS);
        assert_eq!(call!(hsa_shut_down()), NOT_INITIALIZED);
    }
}

#[test]
fn a_handle_of_an_earlier_runtime_is_stale() {
    let old = {
        let _runtime = Runtime::start();
        cpu()
    };
    let _runtime = Runtime::start();
    let mut name = [0u8; 64];
    let place = name.as_mut_ptr().cast();
    let status = call!(hsa_agent_get_info(old, hsa_agent_info_t::NAME, place));
    assert_eq!(status, hsa_status_t::ERROR_INVALID_AGENT);
}

#[test]
fn each_object_has_its_own_status_for_whatever_is_no_handle_of_it() {
    let _runtime = Runtime::start();
    let zeroes = Box::new([0u64; 512]);
    let live = [
        cpu().handle,
        region().handle,
        signal(0).handle,
        executable().handle,
    ];
    let garbage = [0, 1, u64::MAX, zeroes.as_ptr().addr() as u64];
    let mut out = [0u64; 16];
    let place: *mut c_void = out.as_mut_ptr().cast();
    let mut tried = 0;
    for handle in live.into_iter().chain(garbage) {
        let statuses = [
            (
                live[0],
                call!(hsa_agent_get_info(
                    hsa_agent_t { handle },
                    hsa_agent_info_t(0),
                    place
                )),
                0x1004,
            ),
            (
                live[1],
                call!(hsa_region_get_info(
                    hsa_region_t { handle },
                    hsa_region_info_t(0),
                    place
                )),
                0x1005,
            ),
            (
                live[3],
                call!(hsa_executable_get_info(
                    hsa_executable_t { handle },
                    hsa_executable_info_t(1),
                    place
                )),
                0x1011,
            ),
            (
                0,
                call!(hsa_cache_get_info(
                    hsa_cache_t { handle },
                    hsa_cache_info_t(0),
                    place
                )),
                0x1022,
            ),
            (
                0,
                call!(hsa_isa_get_info_alt(
                    hsa_isa_t { handle },
                    hsa_isa_info_t(0),
                    place
                )),
                0x100f,
            ),
            (
                0,
                call!(hsa_wavefront_get_info(
                    hsa_wavefront_t { handle },
                    hsa_wavefront_info_t(0),
                    place
                )),
                0x1023,
            ),
            (
                0,
                call!(hsa_executable_symbol_get_info(
                    hsa_executable_symbol_t { handle },
                    hsa_executable_symbol_info_t(0),
                    place
                )),
                0x1019,
            ),
            (
                0,
                call!(hsa_code_object_get_info(
                    hsa_code_object_t { handle },
                    hsa_code_object_info_t(0),
                    place
                )),
                0x1010,
            ),
            (
                0,
                call!(hsa_code_symbol_get_info(
                    hsa_code_symbol_t { handle },
                    hsa_code_symbol_info_t(0),
                    place
                )),
                0x1018,
            ),
            (
                0,
                call!(hsa_code_object_reader_destroy(hsa_code_object_reader_t {
                    handle
                })),
                0x1021,
            ),
            (
                0,
                call!(hsa_signal_group_destroy(hsa_signal_group_t { handle })),
                0x1024,
            ),
        ];
        for (own, status, expected) in statuses {
            let expected = if own == handle && own != 0 {
                SUCCESS
            } else {
                hsa_status_t(expected)
            };
            assert_eq!(status, expected, "handle {handle:#x}");
            tried += 1;
        }
    }
    assert_eq!(tried, 88);
}

#[test]
fn a_destroyed_object_is_no_object() {
    let _runtime = Runtime::start();
    let (signal, executable) = (signal(0), executable());
    assert_eq!(call!(hsa_signal_destroy(signal)), SUCCESS);
    assert_eq!(
        call!(hsa_signal_destroy(signal)),
        hsa_status_t::ERROR_INVALID_SIGNAL
    );
    assert_eq!(call!(hsa_executable_destroy(executable)), SUCCESS);
    assert_eq!(
        call!(hsa_executable_destroy(executable)),
        hsa_status_t::ERROR_INVALID_EXECUTABLE
    );
    assert_eq!(call!(hsa_signal_load_relaxed(signal)), 0);
    call!(hsa_signal_store_relaxed(signal, 5));
}

#[test]
fn a_callback_ends_an_iteration_with_its_own_status() {
    extern "C" fn odd(_: hsa_region_t, data: *mut c_void) -> hsa_status_t {
        // SAFETY: the data is the counter that the caller gave.
        unsafe { *data.cast::<u32>() += 1 };
        hsa_status_t(0x77)
    }
    let _runtime = Runtime::start();
    let mut calls = 0u32;
    let status = call!(hsa_agent_iterate_regions(
        cpu(),
        Some(odd),
        (&raw mut calls).cast()
    ));
    assert_eq!((status, calls), (hsa_status_t(0x77), 1));
    assert_eq!(
        call!(hsa_agent_iterate_regions(cpu(), None, null_mut())),
        INVALID_ARGUMENT
    );
}

#[test]
fn memory_is_given_once_and_taken_back_once() {
    let _runtime = Runtime::start();
    let mut memory = null_mut();
    assert_eq!(
        call!(hsa_memory_allocate(region(), 0, &raw mut memory)),
        INVALID_ARGUMENT
    );
    assert_eq!(
        call!(hsa_memory_allocate(region(), 5000, &raw mut memory)),
        SUCCESS
    );
    let text = *b"some text";
    assert_eq!(
        call!(hsa_memory_copy(memory, text.as_ptr().cast(), text.len())),
        SUCCESS
    );
    let mut back = [0u8; 9];
    assert_eq!(
        call!(hsa_memory_copy(back.as_mut_ptr().cast(), memory, back.len())),
        SUCCESS
    );
    assert_eq!(back, text);
    assert_eq!(call!(hsa_memory_copy(null_mut(), memory, 0)), INVALID_ARGUMENT);
    let inside = memory.wrapping_byte_add(8);
    assert_eq!(
        call!(hsa_memory_free(inside)),
        hsa_status_t::ERROR_INVALID_ALLOCATION
    );
    assert_eq!(call!(hsa_memory_free(memory)), SUCCESS);
    assert_eq!(
        call!(hsa_memory_free(memory)),
        hsa_status_t::ERROR_INVALID_ALLOCATION
    );
    assert_eq!(call!(hsa_memory_free(null_mut())), SUCCESS);
}

#[test]
fn a_signal_wakes_a_waiter_in_another_thread() {
    let _runtime = Runtime::start();
    let signal = signal(1);
    let waiter = std::thread::spawn(move || {
        let (lt, blocked) = (hsa_signal_condition_t::LT, hsa_wait_state_t::BLOCKED);
        call!(hsa_signal_wait_scacquire(signal, lt, 1, u64::MAX, blocked))
    });
    std::thread::sleep(std::time::Duration::from_millis(20));
    call!(hsa_signal_subtract_screlease(signal, 1));
    assert_eq!(waiter.join().unwrap(), 0);
    assert_eq!(call!(hsa_signal_exchange_scacq_screl(signal, 9)), 0);
    assert_eq!(call!(hsa_signal_cas_relaxed(signal, 8, 1)), 9);
    call!(hsa_signal_xor_relaxed(signal, 1));
    assert_eq!(call!(hsa_signal_load_scacquire(signal)), 8);
    // A condition that is none satisfies nobody; the value is what was seen.
    let odd = hsa_signal_condition_t(77);
    assert_eq!(
        call!(hsa_signal_wait_relaxed(
            signal,
            odd,
            0,
            u64::MAX,
            hsa_wait_state_t::ACTIVE
        )),
        8
    );
}

#[test]
fn a_group_says_which_signal_it_was() {
    let _runtime = Runtime::start();
    let signals = [signal(0), signal(3)];
    let mut group = hsa_signal_group_t::default();
    let create = |list: &[hsa_signal_t], group| {
        call!(hsa_signal_group_create(
            u32::try_from(list.len()).unwrap(),
            list.as_ptr(),
            0,
            null(),
            group
        ))
    };
    assert_eq!(
        create(&[signals[0], signals[0]], &raw mut group),
        INVALID_ARGUMENT
    );
    assert_eq!(create(&signals, &raw mut group), SUCCESS);
    let (conditions, compare) = ([hsa_signal_condition_t::NE; 2], [0; 2]);
    let (mut which, mut value) = (hsa_signal_t::default(), 0);
    let status = call!(hsa_signal_group_wait_any_scacquire(
        group,
        conditions.as_ptr(),
        compare.as_ptr(),
        hsa_wait_state_t::ACTIVE,
        &raw mut which,
        &raw mut value,
    ));
    assert_eq!((status, which, value), (SUCCESS, signals[1], 3));
    assert_eq!(call!(hsa_signal_group_destroy(group)), SUCCESS);
    assert_eq!(
        call!(hsa_signal_group_destroy(group)),
        hsa_status_t::ERROR_INVALID_SIGNAL_GROUP
    );
}

#[test]
fn a_soft_queue_has_indexes_until_it_is_destroyed() {
    let _runtime = Runtime::start();
    let mut queue = null_mut();
    let bell = signal(0);
    let create =
        |size, features, queue| call!(hsa_soft_queue_create(region(), size, 1, features, bell, queue));
    assert_eq!(create(63, 2, &raw mut queue), INVALID_ARGUMENT);
    assert_eq!(create(64, 4, &raw mut queue), INVALID_ARGUMENT);
    assert_eq!(create(64, 2, &raw mut queue), SUCCESS);
    // SAFETY: the queue lives.
    let public = unsafe { *queue };
    assert_eq!(
        (
            public.r#type,
            public.features,
            public.size,
            public.doorbell_signal
        ),
        (1, 2, 64, bell)
    );
    assert_eq!(call!(hsa_queue_add_write_index_scacq_screl(queue, 3)), 0);
    assert_eq!(call!(hsa_queue_cas_write_index_relaxed(queue, 2, 9)), 3);
    call!(hsa_queue_store_read_index_screlease(queue, 2));
    assert_eq!(call!(hsa_queue_load_read_index_scacquire(queue)), 2);
    assert_eq!(call!(hsa_queue_load_write_index_relaxed(queue)), 3);
    assert_eq!(call!(hsa_queue_destroy(queue)), SUCCESS);
    assert_eq!(call!(hsa_queue_destroy(queue)), hsa_status_t::ERROR_INVALID_QUEUE);
    assert_eq!(call!(hsa_queue_load_write_index_relaxed(queue)), 0);
}

#[test]
fn a_cpu_agent_has_no_queues_and_runs_no_code() {
    let _runtime = Runtime::start();
    let mut queue = null_mut();
    let status = call!(hsa_queue_create(
        cpu(),
        64,
        0,
        None,
        null_mut(),
        u32::MAX,
        u32::MAX,
        &raw mut queue
    ));
    assert_eq!(status, hsa_status_t::ERROR_INVALID_QUEUE_CREATION);
    let (mut reader, bytes) = (hsa_code_object_reader_t::default(), [0u8; 256]);
    let made = call!(hsa_code_object_reader_create_from_memory(
        bytes.as_ptr().cast(),
        256,
        &raw mut reader
    ));
    assert_eq!(made, SUCCESS);
    let executable = executable();
    let load = |agent| {
        call!(hsa_executable_load_agent_code_object(
            executable,
            agent,
            reader,
            null(),
            null_mut()
        ))
    };
    assert_eq!(load(cpu()), hsa_status_t::ERROR_INVALID_CODE_OBJECT);
    assert_eq!(load(hsa_agent_t { handle: 1 }), hsa_status_t::ERROR_INVALID_AGENT);
}

#[test]
fn a_variable_is_defined_once_and_has_an_address_when_frozen() {
    let _runtime = Runtime::start();
    let executable = executable();
    let mut variable = 7u32;
    let address: *mut c_void = (&raw mut variable).cast();
    let define = |name: &CStr| {
        call!(hsa_executable_global_variable_define(
            executable,
            name.as_ptr(),
            address
        ))
    };
    assert_eq!(define(c"here"), SUCCESS);
    assert_eq!(define(c"here"), hsa_status_t::ERROR_VARIABLE_ALREADY_DEFINED);
    let mut symbol = hsa_executable_symbol_t::default();
    let find = |name: &CStr, symbol| {
        call!(hsa_executable_get_symbol_by_name(
            executable,
            name.as_ptr(),
            null(),
            symbol
        ))
    };
    assert_eq!(
        find(c"there", &raw mut symbol),
        hsa_status_t::ERROR_INVALID_SYMBOL_NAME
    );
    assert_eq!(find(c"here", &raw mut symbol), SUCCESS);
    let at = |symbol| {
        let mut at = 1u64;
        let info = hsa_executable_symbol_info_t::VARIABLE_ADDRESS;
        assert_eq!(
            call!(hsa_executable_symbol_get_info(symbol, info, (&raw mut at).cast())),
            SUCCESS
        );
        at
    };
    assert_eq!(at(symbol), 0);
    assert_eq!(call!(hsa_executable_freeze(executable, null())), SUCCESS);
    assert_eq!(at(symbol), address.addr() as u64);
    assert_eq!(define(c"late"), hsa_status_t::ERROR_FROZEN_EXECUTABLE);
    let mut again = hsa_executable_symbol_t::default();
    assert_eq!(find(c"here", &raw mut again), SUCCESS);
    assert_eq!(again, symbol);
    assert_eq!(call!(hsa_executable_destroy(executable)), SUCCESS);
    let mut kind = 0u32;
    let info = hsa_executable_symbol_info_t::TYPE;
    let status = call!(hsa_executable_symbol_get_info(
        symbol,
        info,
        (&raw mut kind).cast()
    ));
    assert_eq!(status, hsa_status_t::ERROR_INVALID_EXECUTABLE_SYMBOL);
}

#[test]
fn an_instruction_set_has_the_name_it_was_found_by() {
    let _runtime = Runtime::start();
    let name = c"amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-";
    let mut isa = hsa_isa_t::default();
    assert_eq!(call!(hsa_isa_from_name(name.as_ptr(), &raw mut isa)), SUCCESS);
    let mut back = [0xffu8; 64];
    let place = back.as_mut_ptr().cast();
    assert_eq!(
        call!(hsa_isa_get_info_alt(isa, hsa_isa_info_t::NAME, place)),
        SUCCESS
    );
    assert_eq!(CStr::from_bytes_until_nul(&back).unwrap(), name);
    assert_eq!(back[name.count_bytes() + 1], 0xff);
    let status = call!(hsa_isa_get_info(isa, hsa_isa_info_t::NAME, 1, place));
    assert_eq!(status, hsa_status_t::ERROR_INVALID_INDEX);
    let status = call!(hsa_isa_from_name(c"gfx90a".as_ptr(), &raw mut isa));
    assert_eq!(status, hsa_status_t::ERROR_INVALID_ISA_NAME);
}

#[test]
fn the_loader_extension_is_copied_as_far_as_the_program_knows_it() {
    const LOADER: u16 = 0x201;
    let _runtime = Runtime::start();
    let (mut minor, mut there) = (9, false);
    let status = call!(hsa_system_major_extension_supported(
        LOADER,
        1,
        &raw mut minor,
        &raw mut there
    ));
    assert_eq!((status, there, minor), (SUCCESS, true, 4));
    let copied = |bytes: usize| {
        let mut table = [0usize; 16];
        let status = call!(hsa_system_get_major_extension_table(
            LOADER,
            1,
            bytes,
            table.as_mut_ptr().cast()
        ));
        (status, table.iter().take_while(|&&f| f != 0).count())
    };
    assert_eq!(copied(24), (SUCCESS, 3));
    assert_eq!(copied(size_of::<[usize; 16]>()), (SUCCESS, 9));
    assert_eq!(copied(0).0, INVALID_ARGUMENT);
    let exact = |minor| {
        let mut table = [0usize; 16];
        let status = call!(hsa_system_get_extension_table(
            LOADER,
            1,
            minor,
            table.as_mut_ptr().cast()
        ));
        (status, table.iter().take_while(|&&f| f != 0).count())
    };
    assert_eq!(
        [exact(0).1, exact(1).1, exact(2).1, exact(3).1, exact(4).1],
        [3, 5, 6, 7, 9]
    );
    assert_eq!(exact(5).0, INVALID_ARGUMENT);
}

#[test]
fn a_forked_child_is_told_so_and_can_start_anew() {
    let _runtime = Runtime::start();
    let agent = cpu();
    // SAFETY: the child calls nothing but the interface and `_exit`.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: ends the child if something hangs.
        unsafe { libc::alarm(20) };
        let mut word = 0u64;
        let place = (&raw mut word).cast();
        let told = call!(hsa_system_get_info(hsa_system_info_t::TIMESTAMP, place)) == NOT_INITIALIZED;
        let anew = call!(hsa_init()) == SUCCESS;
        let stale = call!(hsa_agent_get_info(agent, hsa_agent_info_t::NODE, place))
            == hsa_status_t::ERROR_INVALID_AGENT;
        let ended = call!(hsa_shut_down()) == SUCCESS;
        // SAFETY: ends the child without the test harness's handlers.
        unsafe { libc::_exit(i32::from(!(told && anew && stale && ended))) };
    }
    let mut status = -1;
    // SAFETY: waits for the child that was just made.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert_eq!(status, 0);
    assert_eq!(cpu(), agent);
}
