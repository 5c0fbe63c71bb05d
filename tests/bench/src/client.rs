//! A program's view of the runtime: the exported C functions, taken from the shared library like any program does.
//!
//! The benchmarks and `hansa demo` run on this, so that what they show is what a program gets.

use hansa_plugin_api::hsa::*;
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use std::path::Path;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU32, Ordering};

/// The library's core functions.
#[allow(
    missing_debug_implementations,
    reason = "a table of functions has nothing to show"
)]
pub struct Client {
    /// The functions.
    pub core: CoreApiTable,
    library: Library,
}

/// What went wrong: the function and its status.
pub type Result<T> = std::result::Result<T, String>;

macro_rules! core_table {
    ([$library:ident] $(($i:literal, $kind:ident, $name:ident, $field:ident, $args:tt, $ret:ty, $doc:literal))*) => {
        CoreApiTable {
            version: CORE_API_TABLE_VERSION,
            $($field: {
                // SAFETY: the library exports the function with the C interface's type.
                let symbol = unsafe { $library.get(concat!(stringify!($name), "\0").as_bytes()) };
                *symbol.map_err(|e| e.to_string())?
            },)*
        }
    };
}

/// Calls a function of a client's table, whose arguments the caller vouches for, and turns another status than success into an error.
#[macro_export]
#[allow(
    clippy::macro_metavars_in_unsafe,
    reason = "the macro of this project's own programs"
)]
macro_rules! call {
    ($client:expr, $field:ident($($argument:expr),* $(,)?)) => {{
        // SAFETY: every argument is a live handle or points to a variable of the type that the function takes.
        let status = unsafe { ($client.core.$field)($($argument),*) };
        $crate::client::good(status, stringify!($field))
    }};
}

/// Success, or the function and the name of its status.
///
/// # Errors
///
/// Any status but success.
pub fn good(status: hsa_status_t, function: &str) -> Result<()> {
    if status == hsa_status_t::SUCCESS {
        return Ok(());
    }
    let name = function.trim_end_matches("_fn");
    Err(format!(
        "{name}: {}",
        status.c_name().unwrap_or("an unknown status")
    ))
}

/// A GPU agent with what a dispatch needs.
#[derive(Clone, Debug)]
pub struct Gpu {
    /// The agent.
    pub agent: hsa_agent_t,
    /// Its name, such as `gfx900`.
    pub name: String,
}

/// A kernel of a loaded code object.
#[derive(Clone, Copy, Debug)]
pub struct Kernel {
    /// What a packet names it by.
    pub object: u64,
    /// Bytes of its arguments.
    pub kernarg_bytes: u32,
    /// Bytes of private memory of a work-item.
    pub private_bytes: u32,
    /// Bytes of group memory of a work-group.
    pub group_bytes: u32,
}

impl Client {
    /// Loads the library.
    ///
    /// # Errors
    ///
    /// The function that failed and its status.
    pub fn load(path: &Path) -> Result<Self> {
        // SAFETY: the runtime does nothing when it is loaded.
        let library =
            unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) }.map_err(|e| e.to_string())?;
        let core = hansa_plugin_api::for_each_core_api!(core_table[library]);
        Ok(Self { core, library })
    }

    /// A further function that the library exports.
    ///
    /// # Errors
    ///
    /// The name, when there is no such function.
    ///
    /// # Safety
    ///
    /// `T` is the type of a pointer to the function.
    pub(crate) unsafe fn function<T: Copy>(&self, name: &std::ffi::CStr) -> Result<T> {
        // SAFETY: the caller vouches for the type.
        let symbol = unsafe { self.library.get::<T>(name.to_bytes_with_nul()) };
        symbol.map(|symbol| *symbol).map_err(|e| e.to_string())
    }

    /// All agents.
    ///
    /// # Errors
    ///
    /// The function that failed and its status.
    pub fn agents(&self) -> Result<Vec<hsa_agent_t>> {
        unsafe extern "C" fn collect(agent: hsa_agent_t, data: *mut c_void) -> hsa_status_t {
            // SAFETY: `data` is the list below, for the length of the iteration.
            unsafe { &mut *data.cast::<Vec<hsa_agent_t>>() }.push(agent);
            hsa_status_t::SUCCESS
        }
        let mut agents: Vec<hsa_agent_t> = Vec::new();
        call!(
            self,
            hsa_iterate_agents_fn(Some(collect), (&raw mut agents).cast())
        )?;
        Ok(agents)
    }

    /// A number of an agent.
    ///
    /// # Errors
    ///
    /// The function that failed and its status.
    pub fn agent_u32(&self, agent: hsa_agent_t, attribute: hsa_agent_info_t) -> Result<u32> {
        let mut value = 0u32;
        call!(
            self,
            hsa_agent_get_info_fn(agent, attribute, (&raw mut value).cast())
        )?;
        Ok(value)
    }

    /// The name of an agent.
    ///
    /// # Errors
    ///
    /// The function that failed and its status.
    pub fn agent_name(&self, agent: hsa_agent_t) -> Result<String> {
        let mut name = [0u8; 64];
        call!(
            self,
            hsa_agent_get_info_fn(agent, hsa_agent_info_t::NAME, name.as_mut_ptr().cast())
        )?;
        let length = name.iter().position(|&b| b == 0).unwrap_or(name.len());
        Ok(String::from_utf8_lossy(&name[..length]).into_owned())
    }

    /// The GPU agents.
    ///
    /// # Errors
    ///
    /// The function that failed and its status.
    pub fn gpus(&self) -> Result<Vec<Gpu>> {
        let mut gpus = Vec::new();
        for agent in self.agents()? {
            if self.agent_u32(agent, hsa_agent_info_t::DEVICE)? == hsa_device_type_t::GPU.0 {
                let name = self.agent_name(agent)?;
                gpus.push(Gpu { agent, name });
            }
        }
        Ok(gpus)
    }

    /// The first GPU agent.
    ///
    /// # Errors
    ///
    /// The function that failed and its status.
    pub fn gpu(&self) -> Result<Option<Gpu>> {
        Ok(self.gpus()?.into_iter().next())
    }

    /// The first region of an agent whose global flags include these.
    ///
    /// # Errors
    ///
    /// The function that failed and its status.
    pub fn region(&self, agent: hsa_agent_t, flags: u32) -> Result<Option<hsa_region_t>> {
        unsafe extern "C" fn collect(region: hsa_region_t, data: *mut c_void) -> hsa_status_t {
            // SAFETY: `data` is the list below, for the length of the iteration.
            unsafe { &mut *data.cast::<Vec<hsa_region_t>>() }.push(region);
            hsa_status_t::SUCCESS
        }
        let mut regions: Vec<hsa_region_t> = Vec::new();
        call!(
            self,
            hsa_agent_iterate_regions_fn(agent, Some(collect), (&raw mut regions).cast())
        )?;
        for region in regions {
            let (mut segment, mut found) = (0u32, 0u32);
            call!(
                self,
                hsa_region_get_info_fn(region, hsa_region_info_t::SEGMENT, (&raw mut segment).cast())
            )?;
            if segment != hsa_region_segment_t::GLOBAL.0 {
                continue;
            }
            call!(
                self,
                hsa_region_get_info_fn(region, hsa_region_info_t::GLOBAL_FLAGS, (&raw mut found).cast())
            )?;
            if found & flags == flags {
                return Ok(Some(region));
            }
        }
        Ok(None)
    }

    /// Host memory that devices see, for kernel arguments and data.
    ///
    /// # Errors
    ///
    /// The function that failed and its status.
    pub fn host_region(&self) -> Result<hsa_region_t> {
        for agent in self.agents()? {
            if let Some(region) = self.region(agent, hsa_region_global_flag_t::KERNARG.0)? {
                return Ok(region);
            }
        }
        Err("no agent has memory for kernel arguments".to_owned())
    }

    /// Allocates bytes of a region.
    ///
    /// # Errors
    ///
    /// The function that failed and its status.
    pub fn allocate(&self, region: hsa_region_t, bytes: usize) -> Result<*mut c_void> {
        let mut address = null_mut();
        call!(self, hsa_memory_allocate_fn(region, bytes, &raw mut address))?;
        Ok(address)
    }

    /// Loads a code object and answers its executable.
    ///
    /// # Errors
    ///
    /// The function that failed and its status.
    pub fn load_code(&self, agent: hsa_agent_t, code: &'static [u8]) -> Result<hsa_executable_t> {
        let mut reader = hsa_code_object_reader_t { handle: 0 };
        let mut executable = hsa_executable_t { handle: 0 };
        call!(
            self,
            hsa_code_object_reader_create_from_memory_fn(code.as_ptr().cast(), code.len(), &raw mut reader)
        )?;
        call!(
            self,
            hsa_executable_create_alt_fn(
                hsa_profile_t::FULL,
                hsa_default_float_rounding_mode_t::DEFAULT,
                std::ptr::null(),
                &raw mut executable,
            )
        )?;
        call!(
            self,
            hsa_executable_load_agent_code_object_fn(executable, agent, reader, std::ptr::null(), null_mut())
        )?;
        call!(self, hsa_executable_freeze_fn(executable, std::ptr::null()))?;
        Ok(executable)
    }

    /// A kernel by its symbol, such as `vector_add.kd`.
    ///
    /// # Errors
    ///
    /// The function that failed and its status.
    pub fn kernel(
        &self,
        executable: hsa_executable_t,
        agent: hsa_agent_t,
        symbol: &std::ffi::CStr,
    ) -> Result<Kernel> {
        let mut handle = hsa_executable_symbol_t { handle: 0 };
        call!(
            self,
            hsa_executable_get_symbol_by_name_fn(
                executable,
                symbol.as_ptr(),
                &raw const agent,
                &raw mut handle
            )
        )?;
        let number = |attribute| -> Result<u32> {
            let mut value = 0u32;
            call!(
                self,
                hsa_executable_symbol_get_info_fn(handle, attribute, (&raw mut value).cast())
            )?;
            Ok(value)
        };
        let mut object = 0u64;
        call!(
            self,
            hsa_executable_symbol_get_info_fn(
                handle,
                hsa_executable_symbol_info_t::KERNEL_OBJECT,
                (&raw mut object).cast(),
            )
        )?;
        Ok(Kernel {
            object,
            kernarg_bytes: number(hsa_executable_symbol_info_t::KERNEL_KERNARG_SEGMENT_SIZE)?,
            private_bytes: number(hsa_executable_symbol_info_t::KERNEL_PRIVATE_SEGMENT_SIZE)?,
            group_bytes: number(hsa_executable_symbol_info_t::KERNEL_GROUP_SEGMENT_SIZE)?,
        })
    }

    /// A queue of an agent.
    ///
    /// # Errors
    ///
    /// The function that failed and its status.
    pub fn queue(&self, agent: hsa_agent_t) -> Result<Queue<'_>> {
        let mut queue = null_mut();
        call!(
            self,
            hsa_queue_create_fn(
                agent,
                RING,
                hsa_queue_type_t::SINGLE.0,
                Some(stopped),
                null_mut(),
                u32::MAX,
                u32::MAX,
                &raw mut queue,
            )
        )?;
        let mut done = hsa_signal_t { handle: 0 };
        call!(self, hsa_signal_create_fn(1, 0, std::ptr::null(), &raw mut done))?;
        Ok(Queue {
            client: self,
            queue,
            done,
        })
    }
}

unsafe extern "C" fn stopped(status: hsa_status_t, _queue: *mut hsa_queue_t, _data: *mut c_void) {
    eprintln!(
        "hansa: the queue stopped: {}",
        status.c_name().unwrap_or("an unknown status")
    );
}

/// A queue with the signal that its packets complete.
#[allow(missing_debug_implementations, reason = "a client has nothing to show")]
pub struct Queue<'a> {
    client: &'a Client,
    queue: *mut hsa_queue_t,
    /// The signal, below 1 when the last packet is done.
    pub done: hsa_signal_t,
}

/// `hsa_packet_type_t` and the fences that a packet carries here: everything, system wide.
const DISPATCH: u32 = 2;
const BARRIER_AND: u32 = 3;
const FENCES: u32 = (2 << 9) | (2 << 11);
/// The fences of a kernel in a HIP stream.
const AGENT_FENCES: u32 = (1 << 9) | (1 << 11);
/// The packet waits for all before it.
const IN_ORDER: u32 = 1 << 8;
/// Packets of the ring of [`Client::queue`].
pub(crate) const RING: u32 = 1024;

impl Queue<'_> {
    /// Submits a packet that completes the signal, which is 1 before.
    fn submit(&self, header: u32, mut words: [u32; 16]) {
        // SAFETY: a live signal.
        unsafe { (self.client.core.hsa_signal_store_relaxed_fn)(self.done, 1) };
        let [low, high] = halves(self.done.handle);
        words[14] = low;
        words[15] = high;
        self.write(header, words);
    }

    /// Writes a packet of 16 words, the header last, and rings the doorbell.
    fn write(&self, header: u32, words: [u32; 16]) {
        let core = &self.client.core;
        // SAFETY: the queue lives as long as this object.
        let queue = unsafe { self.queue.read() };
        let (size, doorbell) = (u64::from(queue.size), queue.doorbell_signal);
        // SAFETY: a live queue.
        let index = unsafe { (core.hsa_queue_add_write_index_relaxed_fn)(self.queue, 1) };
        let slot = usize::try_from(index & (size - 1)).unwrap_or(0) * 16;
        // SAFETY: the slot is in the ring; only this thread writes packets.
        let packet = unsafe { queue.base_address.cast::<u32>().add(slot) };
        for (offset, word) in words.into_iter().enumerate().skip(1) {
            // SAFETY: the packet has 16 words.
            let place = unsafe { packet.add(offset) };
            // SAFETY: as above.
            unsafe { place.write(word) };
        }
        // SAFETY: the packet's first word, through which the device takes it.
        unsafe { AtomicU32::from_ptr(packet) }.store(header | words[0], Ordering::Release);
        // SAFETY: the queue's doorbell.
        unsafe { (core.hsa_signal_store_screlease_fn)(doorbell, i64::from_ne_bytes(index.to_ne_bytes())) };
    }

    /// Waits until the last packet is done. Answers whether it was within ten seconds.
    pub fn wait(&self) -> bool {
        // SAFETY: a live signal.
        let value = unsafe {
            (self.client.core.hsa_signal_wait_scacquire_fn)(
                self.done,
                hsa_signal_condition_t::LT,
                1,
                10_000_000_000,
                hsa_wait_state_t::BLOCKED,
            )
        };
        value < 1
    }

    /// Submits a barrier packet without dependencies.
    pub fn barrier(&self) {
        self.submit(BARRIER_AND | FENCES, [0; 16]);
    }

    /// Submits a barrier packet that waits for a signal to be 0.
    pub(crate) fn barrier_after(&self, signal: hsa_signal_t) {
        let mut words = [0; 16];
        [words[2], words[3]] = halves(signal.handle);
        self.submit(BARRIER_AND | FENCES, words);
    }

    /// Submits a one-dimensional dispatch.
    pub fn dispatch(&self, kernel: &Kernel, items: u32, group: u32, arguments: *mut c_void) {
        self.submit(
            DISPATCH | FENCES,
            Self::dispatch_words(kernel, [items, 1], [group, 1], arguments),
        );
    }

    /// Submits as many dispatches one after the other, each ordered after the one before it as those of a HIP stream, and
    /// a barrier packet. They must fit into the ring, of [`RING`] packets.
    pub(crate) fn dispatch_in_order(
        &self,
        count: u32,
        kernel: &Kernel,
        items: u32,
        group: u32,
        arguments: *mut c_void,
    ) {
        let words = Self::dispatch_words(kernel, [items, 1], [group, 1], arguments);
        for _ in 0..count {
            self.write(DISPATCH | AGENT_FENCES | IN_ORDER, words);
        }
        self.submit(BARRIER_AND | FENCES | IN_ORDER, [0; 16]);
    }

    /// Submits a dispatch of rows of work-items.
    pub(crate) fn dispatch_2d(
        &self,
        kernel: &Kernel,
        grid: [u32; 2],
        group: [u32; 2],
        arguments: *mut c_void,
    ) {
        self.submit(
            DISPATCH | FENCES,
            Self::dispatch_words(kernel, grid, group, arguments),
        );
    }

    fn dispatch_words(kernel: &Kernel, grid: [u32; 2], group: [u32; 2], arguments: *mut c_void) -> [u32; 16] {
        let [object_low, object_high] = halves(kernel.object);
        let [arguments_low, arguments_high] = halves(arguments.expose_provenance() as u64);
        [
            2 << 16,
            group[0] | group[1] << 16,
            1,
            grid[0],
            grid[1],
            1,
            kernel.private_bytes,
            kernel.group_bytes,
            object_low,
            object_high,
            arguments_low,
            arguments_high,
            0,
            0,
            0,
            0,
        ]
    }
}

impl Drop for Queue<'_> {
    fn drop(&mut self) {
        // SAFETY: the queue and its signal are live and not used again.
        unsafe { (self.client.core.hsa_queue_destroy_fn)(self.queue) };
        // SAFETY: as above.
        unsafe { (self.client.core.hsa_signal_destroy_fn)(self.done) };
    }
}

/// The low and the high dword of an address.
pub(crate) const fn halves(value: u64) -> [u32; 2] {
    let b = value.to_le_bytes();
    [
        u32::from_le_bytes([b[0], b[1], b[2], b[3]]),
        u32::from_le_bytes([b[4], b[5], b[6], b[7]]),
    ]
}
