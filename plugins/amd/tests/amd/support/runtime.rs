//! The scripted runtime's state, agents, signals, copies and loader.

use super::{answer, script, GPU, SIGNAL};
use hansa_plugin_api::{
    AgentKind, AsyncFunction, BatchOperation, CopyCommand, CopyServices, CopyServicesObject, CopyServicesRef,
    DeviceEvent, EventHandler, ImageRequest, IpcName, LoadAtRequest, LoadedCodeObject, LoaderServices,
    LoaderServicesObject, LoaderServicesRef, LogLevel, LogSink, MemoryServicesObject, MemoryServicesRef,
    QueueServicesObject, QueueServicesRef, RSlice, RStr, RString, RVec, RectCopyCommand, Result,
    RuntimeServices, SegmentDescriptor, SharingServicesObject, SharingServicesRef, SignalHandler,
    SignalServices, SignalServicesObject, SignalServicesRef, ThreadEntry, TimeSpan, WaitAll, WaitAny,
    WaitList,
};
use std::ffi::c_void;
use std::sync::OnceLock;

/// A host that keeps what is logged.
pub(crate) struct Host;

impl hansa_plugin_api::Host for Host {
    fn log(&self, level: LogLevel, message: RStr<'_>) -> Result<()> {
        script().log.push(format!("{}: {message}", level.0));
        Ok(())
    }

    fn now(&self) -> Result<u64> {
        Ok(0)
    }

    fn configuration(&self) -> Result<RString> {
        Ok(RString::new())
    }

    fn spawn(&self, _name: RStr<'_>, _entry: ThreadEntry) -> Result<()> {
        unreachable!("the extension has no threads")
    }

    fn signal_changed(&self, _signal: u64) -> Result<()> {
        unreachable!("the extension has no device")
    }

    fn event_raised(&self, _event: u32) -> Result<()> {
        unreachable!("the extension has no device")
    }

    fn device_event(&self, _event: &DeviceEvent) -> Result<()> {
        unreachable!("the extension has no device")
    }
}

/// A runtime with one CPU and one GPU.
pub(crate) struct Runtime;

macro_rules! group {
    ($name:ident, $Object:ident, $Ref:ident, $value:expr) => {
        fn $name(&self) -> Result<$Ref<'static>> {
            static GROUP: OnceLock<$Object> = OnceLock::new();
            Ok(GROUP.get_or_init(|| $Object::new($value)).as_ref())
        }
    };
}

impl RuntimeServices for Runtime {
    fn is_running(&self) -> Result<bool> {
        Ok(script().running)
    }

    group!(
        memory,
        MemoryServicesObject,
        MemoryServicesRef,
        super::memory::Memory
    );
    group!(
        sharing,
        SharingServicesObject,
        SharingServicesRef,
        super::memory::Sharing
    );
    group!(signals, SignalServicesObject, SignalServicesRef, Signals);
    group!(copies, CopyServicesObject, CopyServicesRef, Copies);
    group!(
        queues,
        QueueServicesObject,
        QueueServicesRef,
        super::queues::Queues
    );
    group!(loader, LoaderServicesObject, LoaderServicesRef, Loader);

    fn agent_kind(&self, agent: u64) -> Result<AgentKind> {
        let kind = if agent == GPU {
            AgentKind::GPU
        } else {
            AgentKind::CPU
        };
        answer(format!("agent_kind({agent:#x})"), kind)
    }

    fn coherency(&self, agent: u64) -> Result<u32> {
        answer(format!("coherency({agent:#x})"), 1)
    }

    fn set_coherency(&self, agent: u64, coherency: u32) -> Result<()> {
        answer(format!("set_coherency({agent:#x}, {coherency})"), ())
    }

    fn preload(&self, agent: u64, flags: u64) -> Result<()> {
        answer(format!("preload({agent:#x}, {flags})"), ())
    }

    fn set_async_scratch_limit(&self, agent: u64, bytes: u64) -> Result<()> {
        answer(format!("set_async_scratch_limit({agent:#x}, {bytes})"), ())
    }

    fn set_agent_attribute(&self, agent: u64, attribute: u32, value: u64) -> Result<()> {
        answer(
            format!("set_agent_attribute({agent:#x}, {attribute}, {value})"),
            (),
        )
    }

    fn on_system_event(&self, handler: EventHandler) -> Result<()> {
        // SAFETY: the test's handler, which takes any event and writes to no argument but its own.
        let handled = unsafe { (handler.function)(std::ptr::null::<c_void>(), handler.argument) };
        answer(format!("on_system_event(handled {handled})"), ())
    }

    fn log_packets(&self, flags: u64, sink: LogSink) -> Result<()> {
        let text = "packet\n";
        // SAFETY: the sink that came with the stream, and a text of this length.
        unsafe { (sink.function)(sink.argument, text.as_ptr(), text.len()) };
        answer(format!("log_packets({flags:#x})"), ())
    }

    fn image_create(&self, request: &ImageRequest) -> Result<u64> {
        let ImageRequest {
            agent,
            permission,
            version,
            ..
        } = request;
        let call = format!(
            "image_create({agent:#x}, layout {}, {permission}, v{version})",
            request.layout != 0
        );
        answer(call, 0x71)
    }

    fn high_precision_timestamps(&self) -> Result<()> {
        answer("high_precision_timestamps()".to_owned(), ())
    }
}

struct Signals;

impl SignalServices for Signals {
    fn create(&self, initial: i64, consumers: RSlice<'_, u64>, attributes: u64) -> Result<u64> {
        answer(format!("create({initial}, {consumers:x?}, {attributes})"), SIGNAL)
    }

    fn value_address(&self, signal: u64) -> Result<u64> {
        answer(format!("value_address({signal:#x})"), 0x9008)
    }

    fn event_id(&self, signal: u64) -> Result<u32> {
        answer(format!("event_id({signal:#x})"), 17)
    }

    fn on_condition(&self, signal: u64, condition: u32, value: i64, handler: SignalHandler) -> Result<()> {
        // SAFETY: the test's handler and its argument.
        let again = unsafe { (handler.function)(value, handler.argument) };
        answer(
            format!("on_condition({signal:#x}, {condition}, {value}, again {again})"),
            (),
        )
    }

    fn run_async(&self, function: AsyncFunction) -> Result<()> {
        // SAFETY: the test's function and its argument.
        unsafe { (function.function)(function.argument) };
        answer("run_async()".to_owned(), ())
    }

    fn wait_any(&self, list: &WaitList<'_>) -> Result<WaitAny> {
        let index = if list.timeout == 0 { u32::MAX } else { 1 };
        let met = WaitAny {
            index,
            reserved: 0,
            value: 7,
        };
        answer(format!("wait_any({})", waited(list)), met)
    }

    fn wait_all(&self, list: &WaitList<'_>) -> Result<WaitAll> {
        let met = list.timeout != 0;
        let values = if met {
            list.values.to_vec().into()
        } else {
            RVec::new()
        };
        answer(format!("wait_all({})", waited(list)), WaitAll { met, values })
    }

    fn ipc_export(&self, signal: u64) -> Result<IpcName> {
        answer(format!("ipc_export({signal:#x})"), IpcName { words: [3; 8] })
    }

    fn ipc_attach(&self, name: IpcName) -> Result<u64> {
        answer(format!("ipc_attach({:?})", name.words), SIGNAL)
    }
}

fn waited(list: &WaitList<'_>) -> String {
    let WaitList {
        signals,
        conditions,
        values,
        timeout,
        wait_state,
        ..
    } = list;
    format!("{signals:x?}, {conditions:?}, {values:?}, {timeout}, {wait_state}")
}

struct Copies;

impl CopyServices for Copies {
    fn copy(&self, command: &CopyCommand<'_>) -> Result<()> {
        let CopyCommand {
            destination_agent,
            source_agent,
            bytes,
            dependencies,
            completion,
            engine,
            force_engine,
            ..
        } = command;
        let call = format!(
            "copy({destination_agent:#x} <- {source_agent:#x}, {bytes}, after {dependencies:x?}, then {completion:#x}, \
             engine {engine} {force_engine})"
        );
        answer(call, ())
    }

    fn copy_rect(&self, command: &RectCopyCommand<'_>) -> Result<()> {
        let RectCopyCommand {
            destination,
            source,
            range,
            direction,
            agent,
            dependencies,
            completion,
        } = command;
        let call = format!(
            "copy_rect({}+{}+{:?} <- {}+{}+{:?}, {range:?}, {direction}, {agent:#x}, after {dependencies:x?}, then \
             {completion:#x})",
            destination.pitch, destination.slice, destination.offset, source.pitch, source.slice, source.offset
        );
        answer(call, ())
    }

    fn copy_batch(
        &self,
        operations: RSlice<'_, BatchOperation<'_>>,
        dependencies: RSlice<'_, u64>,
    ) -> Result<()> {
        let operation = |one: &BatchOperation<'_>| {
            format!(
                "{} {:x?}@{:x} -> {:x?}@{:x?} {:?} wait {} signal {}",
                one.kind,
                &one.sources[..],
                one.source_agent,
                &one.destinations[..],
                &one.destination_agents[..],
                &one.bytes[..],
                one.wait.function,
                one.signal.operation
            )
        };
        let operations: Vec<_> = operations.iter().map(operation).collect();
        answer(
            format!("copy_batch({}, after {dependencies:x?})", operations.join("; ")),
            (),
        )
    }

    fn free_engines(&self, destination: u64, source: u64) -> Result<u32> {
        answer(format!("free_engines({destination:#x}, {source:#x})"), 0b110)
    }

    fn preferred_engines(&self, destination: u64, source: u64) -> Result<u32> {
        answer(format!("preferred_engines({destination:#x}, {source:#x})"), 0b100)
    }

    fn set_profiling(&self, enable: bool) -> Result<()> {
        answer(format!("set_profiling({enable})"), ())
    }

    fn copy_time(&self, signal: u64) -> Result<TimeSpan> {
        answer(
            format!("copy_time({signal:#x})"),
            TimeSpan { start: 100, end: 200 },
        )
    }
}

struct Loader;

impl LoaderServices for Loader {
    fn host_address(&self, address: u64) -> Result<u64> {
        answer(format!("host_address({address:#x})"), 0x5000)
    }

    fn segments(&self) -> Result<RVec<SegmentDescriptor>> {
        let segment = SegmentDescriptor {
            agent: GPU,
            executable: 0x61,
            storage_kind: 2,
            storage_base: 0x5100,
            storage_bytes: 18_592,
            segment_base: 0x5200,
            segment_bytes: 25_384,
            ..SegmentDescriptor::default()
        };
        answer("segments()".to_owned(), vec![segment, segment].into())
    }

    fn executable_at(&self, address: u64) -> Result<u64> {
        answer(format!("executable_at({address:#x})"), 0x61)
    }

    fn executables(&self) -> Result<RVec<u64>> {
        answer("executables()".to_owned(), vec![0x61, 0x62].into())
    }

    fn loaded_code_objects(&self, executable: u64) -> Result<RVec<u64>> {
        answer(
            format!("loaded_code_objects({executable:#x})"),
            vec![0x63, 0x64].into(),
        )
    }

    fn loaded_code_object(&self, code_object: u64) -> Result<LoadedCodeObject> {
        let storage_kind = if code_object == 0x63 { 2 } else { 1 };
        let info = LoadedCodeObject {
            executable: 0x61,
            agent: GPU,
            kind: 2,
            storage_kind,
            memory_base: 0x5100,
            memory_bytes: 18_592,
            descriptor: 9,
            load_delta: -16,
            load_base: 0x5200,
            load_bytes: 25_384,
            uri: "memory://1".into(),
            reserved: 0,
        };
        answer(format!("loaded_code_object({code_object:#x})"), info)
    }

    fn reader_from_file(&self, descriptor: i32, offset: u64, bytes: u64) -> Result<u64> {
        answer(format!("reader_from_file({descriptor}, {offset}, {bytes})"), 0x65)
    }

    fn load_size(&self, reader: u64) -> Result<u64> {
        answer(format!("load_size({reader:#x})"), 25_384)
    }

    fn load_at(&self, request: &LoadAtRequest<'_>) -> Result<u64> {
        let LoadAtRequest {
            executable,
            agent,
            reader,
            options,
            address,
            bytes,
        } = request;
        let call =
            format!("load_at({executable:#x}, {agent:#x}, {reader:#x}, {options:?}, {address:#x}, {bytes})");
        answer(call, 0x63)
    }
}
