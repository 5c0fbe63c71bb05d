//! Services for signals and their handlers.

use super::services_types::{AsyncFunction, IpcName, SignalHandler, WaitAll, WaitAny, WaitList};
use crate::interface;
use abi_stable::std_types::RSlice;

interface! {
    /// Signals and their handlers.
    pub trait SignalServices, SignalServicesVTable, SignalServicesVTableRef, SignalServicesVTablePrefix,
        SignalServicesObject, SignalServicesRef
    {
    }
    optional {
        /// Makes a signal; `attributes` are `hsa_amd_signal_attribute_t`, unknown bits are ignored. INVALID_ARGUMENT
        /// for a consumer that is named twice; OUT_OF_RESOURCES. Consumers are a hint and not looked up.
        fn create(initial: i64, consumers: RSlice<'_, u64>, attributes: u64) -> u64;
        /// Where the value is. INVALID_SIGNAL; INVALID_ARGUMENT for a signal with neither of the attributes GPU only
        /// and IPC.
        fn value_address(signal: u64) -> u64;
        /// The number of the event that wakes its waiters, or 0. INVALID_ARGUMENT for a handle that is no signal.
        fn event_id(signal: u64) -> u32;
        /// Calls `handler` on the runtime's event thread whenever the value meets the condition, until the handler
        /// returns false. The registration keeps the signal alive. INVALID_SIGNAL also for a doorbell;
        /// OUT_OF_RESOURCES.
        fn on_condition(signal: u64, condition: u32, value: i64, handler: SignalHandler) -> ();
        /// Calls `function` once on the runtime's event thread. OUT_OF_RESOURCES.
        fn run_async(function: AsyncFunction) -> ();
        /// Waits until one signal of the list meets its condition. Signals of handle 0 or that are none are passed
        /// over. No error for the end of the time.
        fn wait_any(list: &WaitList<'_>) -> WaitAny;
        /// Waits until all signals of the list meet their conditions. Signals of handle 0 or that are none count as
        /// met, with value 0. No error for the end of the time.
        fn wait_all(list: &WaitList<'_>) -> WaitAll;
        /// Names a signal for other processes. INVALID_SIGNAL; INVALID_ARGUMENT for a signal without the attribute IPC;
        /// OUT_OF_RESOURCES.
        fn ipc_export(signal: u64) -> IpcName;
        /// Attaches another process's signal. INVALID_ARGUMENT for a stale or made-up name; OUT_OF_RESOURCES.
        fn ipc_attach(name: IpcName) -> u64;
    }
    added {
    }
}
