//! The kernel of this process, and where its machine's files are.

use hansa_vkernel::beside::HOST_FILES;
use hansa_vkernel::device::{Executor, SimExecutor};
use hansa_vkernel::machine::HOSTS;
use hansa_vkernel::{Encoding, GpuSpec, Kernel, Machine, Options};
use std::ffi::{CStr, CString};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Arc, Mutex, Once, PoisonError};

/// What concerns the virtual kernel. A path with one of these beginnings is looked up in the machine's files.
const REDIRECTED: [&str; 6] = [
    "/sys/devices/virtual/kfd",
    "/sys/class/kfd",
    "/sys/module/amdgpu",
    "/sys/dev/char/226:",
    "/dev/dri",
    "/proc/modules",
];

/// A kernel with the place of its machine's files.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) kernel: Arc<Kernel>,
    files: PathBuf,
    /// Whether they tell of processors.
    has_hosts: bool,
}

/// The state; null before the first use and in a fresh child process. It is never freed.
static STATE: AtomicPtr<State> = AtomicPtr::new(std::ptr::null_mut());
static MAKING: Mutex<()> = Mutex::new(());

/// The state, if there is one.
pub(crate) fn existing() -> Option<&'static State> {
    // SAFETY: null, or a box that was leaked.
    unsafe { STATE.load(Ordering::Acquire).as_ref() }
}

/// The state, made at the first use.
pub(crate) fn state() -> Option<&'static State> {
    if let Some(state) = existing() {
        return Some(state);
    }
    let _making = MAKING.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(state) = existing() {
        return Some(state);
    }
    match make() {
        Ok(state) => {
            static FORK: Once = Once::new();
            FORK.call_once(|| {
                // SAFETY: the handler only stores a pointer.
                unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
                if variable("VKERNEL_BOOKS").is_some() {
                    // SAFETY: the function takes nothing and may run at any exit.
                    unsafe { libc::atexit(write_books) };
                }
            });
            STATE.store(Box::into_raw(Box::new(state)), Ordering::Release);
            existing()
        }
        Err(error) => {
            eprintln!("vkernel: {error}");
            None
        }
    }
}

/// A child process begins without a kernel's process, and without the threads of its devices.
extern "C" fn in_child() {
    STATE.store(std::ptr::null_mut(), Ordering::Release);
}

/// Writes what the process left behind, and which calls it made how often.
extern "C" fn write_books() {
    let (Some(state), Some(path)) = (existing(), variable("VKERNEL_BOOKS")) else {
        return;
    };
    let kernel = &state.kernel;
    let books = kernel.books();
    let mut text = format!(
        "buffers {}\nmapped {}\nqueues {}\nevents {}\nunfailed {}\ncomplaints {}\n",
        books.buffers,
        books.mapped,
        books.queues,
        books.events,
        kernel.faults.clear(),
        kernel.complaints().len()
    );
    for (call, count) in kernel.faults.counts() {
        text += &format!("call {count} {call}\n");
    }
    if let Err(error) = std::fs::write(&path, text) {
        eprintln!("vkernel: {path}: {error}");
    }
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

fn make() -> Result<State, String> {
    let machine = machine(variable("VKERNEL_MACHINE").as_deref().unwrap_or("gfx900"))?;
    let mut options = Options {
        encoding: Encoding::File,
        trace: variable("VKERNEL_TRACE").is_some(),
        dkms: variable("VKERNEL_DKMS").is_some(),
        // SAFETY: takes nothing and cannot fail.
        privileged: unsafe { libc::geteuid() } == 0,
        xnack: variable("VKERNEL_XNACK").is_some(),
        strict_buffers: variable("VKERNEL_STRICT").as_deref() != Some("0"),
        ..Options::default()
    };
    if let Some(minor) = variable("VKERNEL_MINOR") {
        options.minor = minor
            .parse()
            .map_err(|_| format!("VKERNEL_MINOR={minor} is no number"))?;
    }
    let files = write(&machine)?;
    let executor: Arc<dyn Executor> = Arc::new(SimExecutor::new(&machine));
    let kernel = Kernel::new(machine, options, Some(executor))
        .map_err(|errno| format!("no virtual kernel: {errno}"))?;
    if let Some(script) = variable("VKERNEL_FAULTS") {
        kernel.faults.script(&script)?;
    }
    let hosts = files.join(HOSTS.trim_start_matches('/'));
    let has_hosts = hosts.join("node0/cpulist").exists();
    Ok(State {
        kernel,
        files,
        has_hosts,
    })
}

fn machine(text: &str) -> Result<Machine, String> {
    if text.starts_with('/') {
        return Machine::of_dump(Path::new(text)).map_err(|error| format!("{text}: {error}"));
    }
    let specs: Result<Vec<GpuSpec>, String> = text.split(',').map(str::trim).map(GpuSpec::named).collect();
    Ok(Machine::with_gpus(&specs?))
}

/// Writes the machine's files, unless another process did. Answers the directory.
fn write(machine: &Machine) -> Result<PathBuf, String> {
    let mut hasher = DefaultHasher::new();
    for (path, contents) in machine.tree.files() {
        path.hash(&mut hasher);
        contents.hash(&mut hasher);
    }
    machine.tree.directories().for_each(|path| path.hash(&mut hasher));
    // SAFETY: takes nothing and cannot fail.
    let user = unsafe { libc::getuid() };
    let name = format!("hansa-vkernel-{user}-{:016x}", hasher.finish());
    let directory = variable("VKERNEL_DIR")
        .map_or_else(|| PathBuf::from("/tmp"), PathBuf::from)
        .join(name);
    if directory.exists() {
        return Ok(directory);
    }
    let fresh = directory.with_extension(std::process::id().to_string());
    let failed = |error: std::io::Error| format!("{}: {error}", fresh.display());
    let inside = |path: &Path| fresh.join(path.strip_prefix("/").unwrap_or(path));
    for path in machine.tree.directories() {
        std::fs::create_dir_all(inside(path)).map_err(failed)?;
    }
    for (path, contents) in machine.tree.files() {
        std::fs::write(inside(path), contents).map_err(failed)?;
    }
    let nodes = inside(Path::new("/dev/dri"));
    std::fs::create_dir_all(&nodes).map_err(failed)?;
    for gpu in &machine.gpus {
        // Only names: opening one goes to the kernel.
        std::fs::write(nodes.join(format!("renderD{}", gpu.render_minor)), "").map_err(failed)?;
    }
    if std::fs::rename(&fresh, &directory).is_err() {
        // Another process was first.
        std::fs::remove_dir_all(&fresh).map_err(failed)?;
    }
    Ok(directory)
}

/// Whether the machine is a copy of another one; a described one is the one that the program runs on.
fn is_copy() -> bool {
    variable("VKERNEL_MACHINE").is_some_and(|machine| machine.starts_with('/'))
}

/// Whether the machine is a copy that has files of the host at a path. Programs that have nothing to do with GPUs read such
/// files, too, and need no kernel for it.
fn has_host_file(path: &str) -> bool {
    variable("VKERNEL_MACHINE")
        .filter(|machine| machine.starts_with('/'))
        .is_some_and(|machine| Path::new(&machine).join(format!("host{path}")).exists())
}

/// Whether a path is a device node of the virtual kernel.
pub(crate) fn is_device(path: &CStr) -> bool {
    let bytes = path.to_bytes();
    bytes == b"/dev/kfd" || bytes.starts_with(b"/dev/dri/renderD")
}

/// Where a file or a directory is that a program opens (`what` is `read` or `list`), or how that fails; `None` for one that
/// does not concern the virtual kernel.
pub(crate) fn opened(what: &str, path: &CStr) -> Option<Result<CString, i32>> {
    let to = redirect(path)?;
    let asked = real(path.to_str().ok()?);
    let answer = existing()?.kernel.file(what, Path::new(&asked));
    Some(answer.map(|()| to).map_err(|errno| errno.raw_os_error()))
}

/// `/sys/class/kfd/kfd` is a link.
fn real(path: &str) -> String {
    path.replacen("/sys/class/kfd", "/sys/devices/virtual/kfd", 1)
}

/// Where a path leads; `None` for one that does not concern the virtual kernel.
pub(crate) fn redirect(path: &CStr) -> Option<CString> {
    let bytes = path.to_bytes();
    let begins = |start: &str| bytes.starts_with(start.as_bytes());
    let of_host = HOST_FILES.iter().copied().find(|start| begins(start));
    let concerns = of_host.map_or_else(|| REDIRECTED.into_iter().any(begins), has_host_file);
    // The processors of a copied machine are in its topology, too.
    if !(concerns || begins(HOSTS) && is_copy()) {
        return None;
    }
    let state = state()?;
    let text = real(path.to_str().ok()?);
    if text.starts_with(HOSTS) && !state.has_hosts {
        return None;
    }
    let to = state.files.join(text.trim_start_matches('/'));
    CString::new(to.into_os_string().into_encoded_bytes()).ok()
}
