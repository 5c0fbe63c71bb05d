//! Queue interception, for tools.

use core::ffi::c_void;

use super::agent::hsa_agent_t;
use super::queue::hsa_queue_t;

/// Format of an intercept marker packet.
pub const AMD_AQL_FORMAT_INTERCEPT_MARKER: u8 = 0xfe;

/// Called when an intercept marker is reached.
pub type amd_intercept_marker_handler = Option<
    unsafe extern "C" fn(packet: *const amd_aql_intercept_marker_t, queue: *mut hsa_queue_t, packet_id: u64),
>;

abi_struct! {
    /// Vendor packet that calls back instead of going to the hardware.
    amd_aql_intercept_marker_t {
        /// Vendor packet.
        header: u16,
        /// `AMD_AQL_FORMAT_INTERCEPT_MARKER`.
        format: u8,
        /// Zero.
        reserved: [u8; 5],
        /// Called with the packet.
        callback: amd_intercept_marker_handler,
        /// Data of the tool.
        user_data: [u64; 6],
    }
}

/// Given to the tool to pass packets on.
pub type hsa_amd_queue_intercept_packet_writer =
    Option<unsafe extern "C" fn(pkts: *const c_void, pkt_count: u64)>;

/// Called with packets the program has submitted.
pub type hsa_amd_queue_intercept_handler = Option<
    unsafe extern "C" fn(
        pkts: *const c_void,
        pkt_count: u64,
        user_pkt_index: u64,
        data: *mut c_void,
        writer: hsa_amd_queue_intercept_packet_writer,
    ),
>;

/// Called when the runtime itself has created a queue.
pub type hsa_amd_runtime_queue_notifier =
    Option<unsafe extern "C" fn(queue: *const hsa_queue_t, agent: hsa_agent_t, data: *mut c_void)>;
