//! The scripted runtime's queues.

use super::answer;
use hansa_plugin_api::{
    CountedQueueRequest, InterceptHandler, InterceptQueueRequest, PacketWriter, QueueDescription,
    QueueErrorHandler, QueueNotifier, QueueServices, ROption, RSlice, RVec, Result, SemaphoreCommand,
    SpmBuffer, TimeSpan,
};
use std::ffi::c_void;
use std::ptr::{null, null_mut};

/// Queues and their times.
pub(crate) struct Queues;

/// Calls an error handler once, so that a test sees that it arrived as it is.
fn try_handler(handler: &ROption<QueueErrorHandler>) -> &'static str {
    match handler {
        ROption::RSome(handler) => {
            // SAFETY: the test's handler, which takes any queue, and its argument.
            unsafe { (handler.function)(0x1234, null_mut(), handler.argument) };
            "handler"
        }
        ROption::RNone => "no handler",
    }
}

unsafe extern "C" fn take_packets(_packets: *const c_void, _count: u64) {}

impl QueueServices for Queues {
    fn create(&self, agent: u64, description: &QueueDescription<'_>) -> Result<u64> {
        let QueueDescription {
            engine,
            flags,
            ring_bytes,
            priority,
            kind,
            private_segment_bytes,
            cu_mask,
            sdma_engine,
            error_handler,
        } = description;
        let call = format!(
            "create({agent:#x}, engine {engine}, {flags}, {ring_bytes}, {priority}, {kind}, {private_segment_bytes}, \
             {cu_mask:x?}, {sdma_engine}, {})",
            try_handler(error_handler)
        );
        answer(call, 0x6000)
    }

    fn counted_acquire(&self, agent: u64, request: &CountedQueueRequest) -> Result<u64> {
        let handler = try_handler(&request.error_handler);
        answer(
            format!("counted_acquire({agent:#x}, {}, {handler})", request.priority),
            0x6100,
        )
    }

    fn counted_release(&self, queue: u64) -> Result<()> {
        answer(format!("counted_release({queue:#x})"), ())
    }

    fn intercept_create(&self, agent: u64, request: &InterceptQueueRequest) -> Result<u64> {
        let InterceptQueueRequest {
            packets,
            kind,
            private_segment_bytes,
            group_segment_bytes,
            error_handler,
        } = request;
        let call = format!(
            "intercept_create({agent:#x}, {packets}, {kind}, {private_segment_bytes}, {group_segment_bytes}, {})",
            try_handler(error_handler)
        );
        answer(call, 0x6200)
    }

    fn intercept_register(&self, queue: u64, handler: InterceptHandler) -> Result<()> {
        // SAFETY: the test's handler, which takes no packets, and its argument.
        unsafe { (handler.function)(null(), 0, 9, handler.argument, PacketWriter(take_packets)) };
        answer(format!("intercept_register({queue:#x})"), ())
    }

    fn on_create(&self, notifier: QueueNotifier) -> Result<()> {
        // SAFETY: the test's notifier, which takes any queue, and its argument.
        unsafe { (notifier.function)(null(), 0x12, notifier.argument) };
        answer("on_create()".to_owned(), ())
    }

    fn set_priority(&self, queue: u64, priority: u32) -> Result<()> {
        answer(format!("set_priority({queue:#x}, {priority})"), ())
    }

    fn set_cu_mask(&self, queue: u64, mask: RSlice<'_, u32>) -> Result<bool> {
        let reduced = mask.len() > 2;
        answer(format!("set_cu_mask({queue:#x}, {mask:x?})"), reduced)
    }

    fn cu_mask(&self, queue: u64) -> Result<RVec<u32>> {
        answer(format!("cu_mask({queue:#x})"), vec![0xf, 0xff].into())
    }

    fn info(&self, queue: u64, attribute: u32) -> Result<u64> {
        answer(format!("info({queue:#x}, {attribute})"), 0x0102_0304_0506_0701)
    }

    fn set_profiling(&self, queue: u64, enable: bool) -> Result<()> {
        answer(format!("set_profiling({queue:#x}, {enable})"), ())
    }

    fn dispatch_time(&self, agent: u64, signal: u64) -> Result<TimeSpan> {
        answer(
            format!("dispatch_time({agent:#x}, {signal:#x})"),
            TimeSpan { start: 300, end: 400 },
        )
    }

    fn convert_tick(&self, agent: u64, tick: u64) -> Result<u64> {
        answer(format!("convert_tick({agent:#x}, {tick})"), tick.wrapping_mul(10))
    }

    fn spm_acquire(&self, agent: u64) -> Result<()> {
        answer(format!("spm_acquire({agent:#x})"), ())
    }

    fn spm_release(&self, agent: u64) -> Result<()> {
        answer(format!("spm_release({agent:#x})"), ())
    }

    fn spm_set_buffer(&self, agent: u64, buffer: SpmBuffer) -> Result<SpmBuffer> {
        let call = format!(
            "spm_set_buffer({agent:#x}, {:#x}, {}, {})",
            buffer.address, buffer.bytes, buffer.timeout_ms
        );
        let last = SpmBuffer {
            timeout_ms: 5,
            copied: 64,
            lost: 1,
            ..buffer
        };
        answer(call, last)
    }

    fn semaphore_open(&self, agent: u64, kind: u32, handle: u64) -> Result<u64> {
        answer(format!("semaphore_open({agent:#x}, {kind}, {handle:#x})"), 0x81)
    }

    fn semaphore_close(&self, semaphore: u64) -> Result<()> {
        answer(format!("semaphore_close({semaphore:#x})"), ())
    }

    fn semaphore_submit(&self, command: SemaphoreCommand) -> Result<()> {
        let SemaphoreCommand {
            queue,
            semaphore,
            value,
            wait,
        } = command;
        answer(
            format!("semaphore_submit({queue:#x}, {semaphore:#x}, {value}, {wait})"),
            (),
        )
    }
}
