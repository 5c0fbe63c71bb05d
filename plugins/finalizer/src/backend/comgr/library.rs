//! The functions of `libamd_comgr` that are used here, and objects that release what they stand for.

use std::ffi::{c_char, CStr, CString};
use std::ptr;

use libloading::os::unix::{Library as Opened, Symbol, RTLD_LOCAL, RTLD_NOW};

/// Names of the file, by preference.
const FILES: [&str; 2] = ["libamd_comgr.so.2", "libamd_comgr.so.3"];

/// `amd_comgr_status_t`; 0 is success.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub(super) struct Status(pub(super) u32);

impl Status {
    fn done(self) -> Result<(), Self> {
        match self.0 {
            0 => Ok(()),
            _ => Err(self),
        }
    }
}

/// `amd_comgr_data_kind_t`, the same in all versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Kind {
    Log = 5,
    Bitcode = 6,
    Relocatable = 7,
    Executable = 8,
}

/// A structure of one 64-bit handle, as all objects of the library are.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
struct Handle {
    handle: u64,
}

type Make = unsafe extern "C" fn(*mut Handle) -> Status;
type Drop_ = unsafe extern "C" fn(Handle) -> Status;

/// The table of functions.
#[derive(Debug)]
pub(super) struct Library {
    major: usize,
    status_string: Symbol<unsafe extern "C" fn(Status, *mut *const c_char) -> Status>,
    create_data: Symbol<unsafe extern "C" fn(u32, *mut Handle) -> Status>,
    release_data: Symbol<Drop_>,
    set_data: Symbol<unsafe extern "C" fn(Handle, usize, *const c_char) -> Status>,
    set_data_name: Symbol<unsafe extern "C" fn(Handle, *const c_char) -> Status>,
    get_data: Symbol<unsafe extern "C" fn(Handle, *mut usize, *mut c_char) -> Status>,
    create_data_set: Symbol<Make>,
    destroy_data_set: Symbol<Drop_>,
    data_set_add: Symbol<unsafe extern "C" fn(Handle, Handle) -> Status>,
    data_count: Symbol<unsafe extern "C" fn(Handle, u32, *mut usize) -> Status>,
    get_set_data: Symbol<unsafe extern "C" fn(Handle, u32, usize, *mut Handle) -> Status>,
    create_action: Symbol<Make>,
    destroy_action: Symbol<Drop_>,
    set_isa: Symbol<unsafe extern "C" fn(Handle, *const c_char) -> Status>,
    set_options: Symbol<unsafe extern "C" fn(Handle, *const *const c_char, usize) -> Status>,
    set_logging: Symbol<unsafe extern "C" fn(Handle, bool) -> Status>,
    run: Symbol<unsafe extern "C" fn(u32, Handle, Handle, Handle) -> Status>,
    /// Last, so that the functions go first.
    _opened: Opened,
}

impl Library {
    /// Opens it with its names for itself alone, so that another LLVM of the process is not mixed up with its own.
    pub(super) fn open() -> Result<Self, String> {
        let mut reasons = Vec::new();
        for file in FILES {
            // SAFETY: the library's initialisers register LLVM's options and have no other effect on the process.
            match unsafe { Opened::open(Some(file), RTLD_NOW | RTLD_LOCAL) } {
                Ok(opened) => return Self::of(opened).map_err(|error| format!("{file}: {error}")),
                Err(error) => reasons.push(error.to_string()),
            }
        }
        Err(reasons.join("; "))
    }

    fn of(opened: Opened) -> Result<Self, libloading::Error> {
        type Version = unsafe extern "C" fn(*mut usize, *mut usize);
        macro_rules! symbol {
            ($name:literal) => {{
                // SAFETY: the type is the one that the header declares for this name in every version.
                unsafe { opened.get(concat!("amd_comgr_", $name, "\0").as_bytes()) }?
            }};
        }
        let version: Symbol<Version> = symbol!("get_version");
        let (mut major, mut minor) = (0, 0);
        // SAFETY: both are places for numbers.
        unsafe { version(&raw mut major, &raw mut minor) };
        Ok(Self {
            major,
            status_string: symbol!("status_string"),
            create_data: symbol!("create_data"),
            release_data: symbol!("release_data"),
            set_data: symbol!("set_data"),
            set_data_name: symbol!("set_data_name"),
            get_data: symbol!("get_data"),
            create_data_set: symbol!("create_data_set"),
            destroy_data_set: symbol!("destroy_data_set"),
            data_set_add: symbol!("data_set_add"),
            data_count: symbol!("action_data_count"),
            get_set_data: symbol!("action_data_get_data"),
            create_action: symbol!("create_action_info"),
            destroy_action: symbol!("destroy_action_info"),
            set_isa: symbol!("action_info_set_isa_name"),
            set_options: symbol!("action_info_set_option_list"),
            set_logging: symbol!("action_info_set_logging"),
            run: symbol!("do_action"),
            _opened: opened,
        })
    }

    /// The major version of the interface.
    pub(super) fn major(&self) -> usize {
        self.major
    }

    /// What a status means.
    pub(super) fn text(&self, status: Status) -> String {
        let mut text = ptr::null();
        // SAFETY: the place is for a pointer.
        let found = unsafe { (self.status_string)(status, &raw mut text) };
        if found.0 != 0 || text.is_null() {
            return format!("status {}", status.0);
        }
        // SAFETY: the library gives a string of its own, which lives as long as it.
        unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
    }

    fn make(make: &Symbol<Make>) -> Result<Handle, Status> {
        let mut handle = Handle::default();
        // SAFETY: the place is for a handle.
        unsafe { make(&raw mut handle) }.done()?;
        Ok(handle)
    }
}

/// Text for the library; a zero in the middle, which is nothing it knows, ends it.
fn c_string(text: &str) -> CString {
    CString::new(text.split('\0').next().unwrap_or_default()).unwrap_or_default()
}

/// Data.
struct Data<'l> {
    library: &'l Library,
    handle: Handle,
}

impl Drop for Data<'_> {
    fn drop(&mut self) {
        // SAFETY: the handle is ours and is not used afterwards; sets count their own references.
        unsafe { (self.library.release_data)(self.handle) };
    }
}

impl Data<'_> {
    fn bytes(&self) -> Result<Vec<u8>, Status> {
        let mut size = 0;
        // SAFETY: without a place for the bytes only their number is written.
        unsafe { (self.library.get_data)(self.handle, &raw mut size, ptr::null_mut()) }.done()?;
        let mut bytes = vec![0u8; size];
        // SAFETY: the place has as many bytes as its size says.
        unsafe { (self.library.get_data)(self.handle, &raw mut size, bytes.as_mut_ptr().cast()) }.done()?;
        bytes.truncate(size);
        Ok(bytes)
    }
}

/// A set of data.
pub(super) struct DataSet<'l> {
    library: &'l Library,
    handle: Handle,
}

impl Drop for DataSet<'_> {
    fn drop(&mut self) {
        // SAFETY: the handle is ours and is not used afterwards.
        unsafe { (self.library.destroy_data_set)(self.handle) };
    }
}

impl<'l> DataSet<'l> {
    pub(super) fn new(library: &'l Library) -> Result<Self, Status> {
        let handle = Library::make(&library.create_data_set)?;
        Ok(Self { library, handle })
    }

    /// Adds data under a name, without which the library refuses it.
    pub(super) fn add(&self, kind: Kind, name: &str, bytes: &[u8]) -> Result<(), Status> {
        let library = self.library;
        let mut handle = Handle::default();
        // SAFETY: the place is for a handle.
        unsafe { (library.create_data)(kind as u32, &raw mut handle) }.done()?;
        let data = Data { library, handle };
        // SAFETY: the library copies as many bytes as there are.
        unsafe { (library.set_data)(data.handle, bytes.len(), bytes.as_ptr().cast()) }.done()?;
        let name = c_string(name);
        // SAFETY: the library copies the name.
        unsafe { (library.set_data_name)(data.handle, name.as_ptr()) }.done()?;
        // SAFETY: both handles are live.
        unsafe { (library.data_set_add)(self.handle, data.handle) }.done()
    }

    /// The first data of a kind, if there is any.
    pub(super) fn first(&self, kind: Kind) -> Result<Option<Vec<u8>>, Status> {
        let library = self.library;
        let mut count = 0;
        // SAFETY: the place is for a number.
        unsafe { (library.data_count)(self.handle, kind as u32, &raw mut count) }.done()?;
        if count == 0 {
            return Ok(None);
        }
        let mut handle = Handle::default();
        // SAFETY: there is data with index 0, and the place is for a handle.
        unsafe { (library.get_set_data)(self.handle, kind as u32, 0, &raw mut handle) }.done()?;
        Data { library, handle }.bytes().map(Some)
    }
}

/// How an action is done.
pub(super) struct Action<'l> {
    library: &'l Library,
    handle: Handle,
}

impl Drop for Action<'_> {
    fn drop(&mut self) {
        // SAFETY: the handle is ours and is not used afterwards.
        unsafe { (self.library.destroy_action)(self.handle) };
    }
}

impl<'l> Action<'l> {
    pub(super) fn new(library: &'l Library) -> Result<Self, Status> {
        let handle = Library::make(&library.create_action)?;
        Ok(Self { library, handle })
    }

    /// The instruction set; an unknown one is refused.
    pub(super) fn set_isa(&self, name: &str) -> Result<(), Status> {
        let name = c_string(name);
        // SAFETY: the library copies the name.
        unsafe { (self.library.set_isa)(self.handle, name.as_ptr()) }.done()
    }

    /// Asks for a log among the results.
    pub(super) fn set_logging(&self) -> Result<(), Status> {
        // SAFETY: the handle is live.
        unsafe { (self.library.set_logging)(self.handle, true) }.done()
    }

    pub(super) fn set_options(&self, options: &[String]) -> Result<(), Status> {
        let texts: Vec<CString> = options.iter().map(|option| c_string(option)).collect();
        let pointers: Vec<*const c_char> = texts.iter().map(|text| text.as_ptr()).collect();
        // SAFETY: the library copies as many strings as there are.
        unsafe { (self.library.set_options)(self.handle, pointers.as_ptr(), pointers.len()) }.done()
    }

    /// Does an action.
    pub(super) fn run(&self, number: u32, from: &DataSet<'_>, to: &DataSet<'_>) -> Result<(), Status> {
        // SAFETY: all handles are live.
        unsafe { (self.library.run)(number, self.handle, from.handle, to.handle) }.done()
    }
}
