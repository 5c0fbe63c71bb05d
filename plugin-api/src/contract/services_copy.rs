//! Services for copies and their times.

use super::services_types::{BatchOperation, CopyCommand, RectCopyCommand, TimeSpan};
use crate::interface;
use abi_stable::std_types::RSlice;

interface! {
    /// Copies and their times.
    ///
    /// A copy starts when all its dependencies are 0 and ends by decrementing its completion signal; if it fails after
    /// the start, the signal gets a negative value. A copy of nothing decrements the signal as well.
    pub trait CopyServices, CopyServicesVTable, CopyServicesVTableRef, CopyServicesVTablePrefix,
        CopyServicesObject, CopyServicesRef
    {
    }
    optional {
        /// Copies a range. Agent handles of 0 mean that the runtime finds the agent by the address. INVALID_AGENT,
        /// INVALID_SIGNAL; INVALID_ARGUMENT for an engine the agent does not have; OUT_OF_RESOURCES.
        fn copy(command: &CopyCommand<'_>) -> ();
        /// Copies a box. INVALID_AGENT unless the agent is a GPU, INVALID_SIGNAL; INVALID_ARGUMENT when the engine
        /// cannot take alignment, pitch or size; OUT_OF_RESOURCES.
        fn copy_rect(command: &RectCopyCommand<'_>) -> ();
        /// Submits operations together; each decrements the common completion signal once. INVALID_AGENT,
        /// INVALID_SIGNAL; INVALID_ARGUMENT for what the engines cannot do; OUT_OF_RESOURCES.
        fn copy_batch(operations: RSlice<'_, BatchOperation<'_>>, dependencies: RSlice<'_, u64>) -> ();
        /// The engines that are free for this direction, one bit each. INVALID_AGENT; OUT_OF_RESOURCES when none is.
        fn free_engines(destination: u64, source: u64) -> u32;
        /// The engines that are fastest for this direction, one bit each, or 0. INVALID_AGENT.
        fn preferred_engines(destination: u64, source: u64) -> u32;
        /// Turns time stamps of copies that are submitted from now on on or off. OUT_OF_RESOURCES.
        fn set_profiling(enable: bool) -> ();
        /// When the copy that a signal completed ran, in system ticks. INVALID_SIGNAL; ERROR if no profiled copy used
        /// the signal.
        fn copy_time(signal: u64) -> TimeSpan;
    }
    added {
    }
}
