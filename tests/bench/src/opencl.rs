//! The little of OpenCL that runs a kernel on the host's processors. The library is loaded when the benchmark runs: a
//! machine without one has nothing to compare with, and the rows say so.

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use std::ffi::{c_char, c_void, CStr, CString};
use std::ptr::{null, null_mut};

/// The implementation that is compared with.
pub(crate) const PLATFORM: &str = "Portable Computing Language";

/// A handle of any kind.
type Handle = *mut c_void;
type Status = i32;

const PLATFORM_NAME: u32 = 0x0902;
const DEVICE_TYPE_CPU: u64 = 1 << 1;
const MEM_READ_WRITE: u64 = 1;
const BLOCKING: u32 = 1;

/// Declares the functions and how they are found.
macro_rules! functions {
    ($($name:ident: fn($($type:ty),*) -> $result:ty;)*) => {
        #[allow(non_snake_case, reason = "OpenCL's own names")]
        struct Functions {
            $($name: unsafe extern "C" fn($($type),*) -> $result,)*
        }

        impl Functions {
            fn of(library: &Library) -> Result<Self, String> {
                Ok(Self { $($name: {
                    // SAFETY: the type is that of OpenCL's header.
                    let symbol = unsafe { library.get(concat!(stringify!($name), "\0").as_bytes()) };
                    *symbol.map_err(|e| e.to_string())?
                },)* })
            }
        }
    };
}

functions! {
    clGetPlatformIDs: fn(u32, *mut Handle, *mut u32) -> Status;
    clGetPlatformInfo: fn(Handle, u32, usize, *mut c_void, *mut usize) -> Status;
    clGetDeviceIDs: fn(Handle, u64, u32, *mut Handle, *mut u32) -> Status;
    clCreateContext: fn(*const isize, u32, *const Handle, Handle, Handle, *mut Status) -> Handle;
    clCreateCommandQueue: fn(Handle, Handle, u64, *mut Status) -> Handle;
    clCreateProgramWithSource: fn(Handle, u32, *const *const c_char, *const usize, *mut Status) -> Handle;
    clBuildProgram: fn(Handle, u32, *const Handle, *const c_char, Handle, Handle) -> Status;
    clCreateKernel: fn(Handle, *const c_char, *mut Status) -> Handle;
    clCreateBuffer: fn(Handle, u64, usize, *mut c_void, *mut Status) -> Handle;
    clSetKernelArg: fn(Handle, u32, usize, *const c_void) -> Status;
    clEnqueueWriteBuffer: fn(Handle, Handle, u32, usize, usize, *const c_void, u32, *const Handle, *mut Handle) -> Status;
    clEnqueueReadBuffer: fn(Handle, Handle, u32, usize, usize, *mut c_void, u32, *const Handle, *mut Handle) -> Status;
    clEnqueueNDRangeKernel: fn(Handle, Handle, u32, *const usize, *const usize, *const usize, u32, *const Handle, *mut Handle) -> Status;
    clFinish: fn(Handle) -> Status;
    clReleaseMemObject: fn(Handle) -> Status;
    clReleaseKernel: fn(Handle) -> Status;
}

/// Success, or the function and its status.
fn good(status: Status, function: &str) -> Result<(), String> {
    match status {
        0 => Ok(()),
        _ => Err(format!("{function}: OpenCL's status {status}")),
    }
}

/// A queue of a processor with a program. Lives until the process ends, as its implementation's threads do.
pub(crate) struct OpenCl {
    functions: Functions,
    context: Handle,
    queue: Handle,
    program: Handle,
    _library: Library,
}

impl OpenCl {
    /// Compiles a program for the host's processors.
    ///
    /// # Errors
    ///
    /// Why there is nothing to compare with.
    pub(crate) fn build(source: &str) -> Result<Self, String> {
        // SAFETY: an OpenCL library only prepares itself when it is loaded.
        let library = unsafe { Library::open(Some("libOpenCL.so.1"), RTLD_NOW | RTLD_LOCAL) }
            .map_err(|_| "there is no libOpenCL.so.1".to_owned())?;
        let functions = Functions::of(&library)?;
        let device = device(&functions)?;
        let mut status = 0;
        // SAFETY: one device of the platform.
        let context = unsafe {
            (functions.clCreateContext)(
                null(),
                1,
                &raw const device,
                null_mut(),
                null_mut(),
                &raw mut status,
            )
        };
        good(status, "clCreateContext")?;
        // SAFETY: the context's device.
        let queue = unsafe { (functions.clCreateCommandQueue)(context, device, 0, &raw mut status) };
        good(status, "clCreateCommandQueue")?;
        let (text, length) = (source.as_ptr().cast::<c_char>(), source.len());
        // SAFETY: one text with its length.
        let program = unsafe {
            (functions.clCreateProgramWithSource)(
                context,
                1,
                &raw const text,
                &raw const length,
                &raw mut status,
            )
        };
        good(status, "clCreateProgramWithSource")?;
        // SAFETY: the context's device, and no options.
        let status = unsafe {
            (functions.clBuildProgram)(
                program,
                1,
                &raw const device,
                c"".as_ptr(),
                null_mut(),
                null_mut(),
            )
        };
        good(status, "clBuildProgram")?;
        Ok(Self {
            functions,
            context,
            queue,
            program,
            _library: library,
        })
    }

    /// Memory that kernels use, with these contents.
    pub(crate) fn buffer(&self, contents: &[u32]) -> Result<Buffer<'_>, String> {
        let bytes = size_of_val(contents);
        let mut status = 0;
        // SAFETY: a live context; the implementation finds the memory.
        let handle = unsafe {
            (self.functions.clCreateBuffer)(self.context, MEM_READ_WRITE, bytes, null_mut(), &raw mut status)
        };
        good(status, "clCreateBuffer")?;
        let buffer = Buffer { of: self, handle };
        // SAFETY: the buffer has as many bytes; the call returns when they are there.
        let status = unsafe {
            (self.functions.clEnqueueWriteBuffer)(
                self.queue,
                handle,
                BLOCKING,
                0,
                bytes,
                contents.as_ptr().cast(),
                0,
                null(),
                null_mut(),
            )
        };
        good(status, "clEnqueueWriteBuffer")?;
        Ok(buffer)
    }

    /// A kernel of the program, its arguments the buffers and then the numbers.
    pub(crate) fn kernel(
        &self,
        name: &CStr,
        buffers: &[Buffer<'_>],
        numbers: &[u32],
    ) -> Result<Kernel<'_>, String> {
        let mut status = 0;
        // SAFETY: a built program.
        let handle = unsafe { (self.functions.clCreateKernel)(self.program, name.as_ptr(), &raw mut status) };
        good(status, "clCreateKernel")?;
        let kernel = Kernel { of: self, handle };
        let mut index = 0;
        let mut set = |bytes, value: *const c_void| {
            // SAFETY: `value` points to as many bytes, which the call copies.
            let status = unsafe { (self.functions.clSetKernelArg)(handle, index, bytes, value) };
            index += 1;
            good(status, "clSetKernelArg")
        };
        for buffer in buffers {
            set(size_of::<Handle>(), (&raw const buffer.handle).cast())?;
        }
        for number in numbers {
            set(size_of::<u32>(), (&raw const *number).cast())?;
        }
        Ok(kernel)
    }
}

/// The processor of [`PLATFORM`].
fn device(functions: &Functions) -> Result<Handle, String> {
    let absent = || format!("{PLATFORM} is not there");
    let mut platforms = [null_mut(); 16];
    let mut count = 0;
    // SAFETY: room for as many platforms as are asked for.
    let status = unsafe { (functions.clGetPlatformIDs)(16, platforms.as_mut_ptr(), &raw mut count) };
    good(status, "clGetPlatformIDs").map_err(|_| absent())?;
    for platform in platforms.into_iter().take(count as usize) {
        let mut name = [0_u8; 256];
        // SAFETY: a live platform and a buffer of that size.
        let status = unsafe {
            (functions.clGetPlatformInfo)(
                platform,
                PLATFORM_NAME,
                name.len() - 1,
                name.as_mut_ptr().cast(),
                null_mut(),
            )
        };
        good(status, "clGetPlatformInfo")?;
        let name = CStr::from_bytes_until_nul(&name).map_or_else(|_| CString::default(), CStr::to_owned);
        if name.to_bytes() != PLATFORM.as_bytes() {
            continue;
        }
        let mut device = null_mut();
        // SAFETY: a live platform and room for one device.
        let status =
            unsafe { (functions.clGetDeviceIDs)(platform, DEVICE_TYPE_CPU, 1, &raw mut device, null_mut()) };
        good(status, "clGetDeviceIDs")?;
        return Ok(device);
    }
    Err(absent())
}

/// Memory of kernels.
pub(crate) struct Buffer<'a> {
    of: &'a OpenCl,
    handle: Handle,
}

impl Buffer<'_> {
    /// What is in it.
    pub(crate) fn read(&self, contents: &mut [u32]) -> Result<(), String> {
        // SAFETY: the buffer is as large; the call returns when the bytes are there.
        let status = unsafe {
            (self.of.functions.clEnqueueReadBuffer)(
                self.of.queue,
                self.handle,
                BLOCKING,
                0,
                size_of_val(contents),
                contents.as_mut_ptr().cast(),
                0,
                null(),
                null_mut(),
            )
        };
        good(status, "clEnqueueReadBuffer")
    }
}

impl Drop for Buffer<'_> {
    fn drop(&mut self) {
        // SAFETY: a live buffer that nobody uses.
        unsafe { (self.of.functions.clReleaseMemObject)(self.handle) };
    }
}

/// A kernel with its arguments.
pub(crate) struct Kernel<'a> {
    of: &'a OpenCl,
    handle: Handle,
}

impl Kernel<'_> {
    /// Runs it and waits until it is over.
    pub(crate) fn run(&self, grid: [u32; 2], group: [u32; 2]) -> Result<(), String> {
        let (items, group) = (grid.map(|n| n as usize), group.map(|n| n as usize));
        // SAFETY: two dimensions, as many numbers.
        let status = unsafe {
            (self.of.functions.clEnqueueNDRangeKernel)(
                self.of.queue,
                self.handle,
                2,
                null(),
                items.as_ptr(),
                group.as_ptr(),
                0,
                null(),
                null_mut(),
            )
        };
        good(status, "clEnqueueNDRangeKernel")?;
        // SAFETY: a live queue.
        good(unsafe { (self.of.functions.clFinish)(self.of.queue) }, "clFinish")
    }
}

impl Drop for Kernel<'_> {
    fn drop(&mut self) {
        // SAFETY: a live kernel that nobody uses.
        unsafe { (self.of.functions.clReleaseKernel)(self.handle) };
    }
}
