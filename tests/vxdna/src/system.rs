//! The machine as a [`System`].

use crate::faults::Faults;
use crate::requests::{name_of, Client};
use crate::spec::NpuSpec;
use hansa_plugin_api::sync::Mutex;
use hansa_plugin_api::sys::{Errno, File, LinuxSystem, MapAccess, System};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// First number of a file: no descriptor of the process's is as high.
const FIRST_FILE: i32 = 1 << 24;

/// What a machine of virtual NPUs has on its books.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Books {
    /// Open files.
    pub files: usize,
    /// Buffers.
    pub buffers: usize,
    /// Contexts.
    pub contexts: usize,
    /// Bytes that are mapped, and reserved.
    pub mapped: usize,
}

/// A machine with virtual NPUs and nothing else.
#[derive(Debug)]
pub struct VirtualNpus {
    specs: Vec<NpuSpec>,
    /// What is to fail.
    pub faults: Faults,
    files: Mutex<BTreeMap<i32, Arc<Client>>>,
    next_file: Mutex<i32>,
    maps: Mutex<BTreeMap<usize, usize>>,
    complaints: Mutex<Vec<String>>,
    log: Arc<Mutex<Vec<String>>>,
    hold: Arc<Mutex<()>>,
    /// Files of sysfs that are not there.
    pub missing: Mutex<Vec<String>>,
}

impl VirtualNpus {
    /// A machine with these devices.
    #[must_use]
    pub fn new(specs: &[NpuSpec]) -> Arc<Self> {
        Arc::new(Self {
            specs: specs.to_vec(),
            faults: Faults::default(),
            files: Mutex::default(),
            next_file: Mutex::new(FIRST_FILE),
            maps: Mutex::default(),
            complaints: Mutex::default(),
            log: Arc::default(),
            hold: Arc::default(),
            missing: Mutex::default(),
        })
    }

    /// Requests that no kernel knows, and other things that no driver does.
    #[must_use]
    pub fn complaints(&self) -> Vec<String> {
        self.complaints.lock().clone()
    }

    /// Why commands failed, in the words of the firmware.
    #[must_use]
    pub fn log(&self) -> Vec<String> {
        self.log.lock().clone()
    }

    /// No command ends until the guard is dropped.
    pub fn hold(&self) -> hansa_plugin_api::sync::MutexGuard<'_, ()> {
        self.hold.lock()
    }

    /// What is on the books.
    #[must_use]
    pub fn books(&self) -> Books {
        let files = self.files.lock();
        Books {
            files: files.len(),
            buffers: files.values().map(|file| file.buffers.lock().count()).sum(),
            contexts: files.values().map(|file| file.contexts.lock().len()).sum(),
            mapped: self.maps.lock().values().sum(),
        }
    }

    fn complain(&self, what: String) {
        self.complaints.lock().push(what);
    }

    fn client(&self, file: File) -> Result<Arc<Client>, Errno> {
        self.files.lock().get(&file.0).cloned().ok_or(Errno::BADF)
    }

    fn spec(&self, node: &str) -> Option<&NpuSpec> {
        self.specs
            .iter()
            .find(|spec| format!("accel{}", spec.node) == node)
    }

    fn forget(&self, address: usize, bytes: usize) {
        let mut maps = self.maps.lock();
        let end = address + bytes;
        let touched: Vec<(usize, usize)> = maps
            .range(..end)
            .map(|(start, length)| (*start, *length))
            .filter(|(start, length)| start + length > address)
            .collect();
        for (start, length) in touched {
            maps.remove(&start);
            if start < address {
                maps.insert(start, address - start);
            }
            if start + length > end {
                maps.insert(end, start + length - end);
            }
        }
        for client in self.files.lock().values() {
            client.buffers.lock().note_unmapped(address as u64, bytes as u64);
        }
    }

    fn sysfs(&self, path: &Path) -> Option<String> {
        let mut parts = path.strip_prefix("/sys/class/accel").ok()?.iter();
        let spec = self.spec(parts.next()?.to_str()?)?;
        if parts.next()?.to_str()? != "device" {
            return None;
        }
        let file = parts.next()?.to_str()?;
        if self.missing.lock().iter().any(|name| name == file) {
            return None;
        }
        Some(match file {
            "vendor" => "0x1022\n".into(),
            "device" => format!("{:#06x}\n", spec.device),
            "vbnv" => format!("{}\n", spec.product),
            "fw_version" => "1.5.2.380\n".into(),
            "device_type" => format!("{}\n", spec.device_type),
            "numa_node" => "-1\n".into(),
            "uevent" => format!("DRIVER=amdxdna\nPCI_SLOT_NAME={}\n", spec.pci_address),
            _ => return None,
        })
    }
}

impl System for VirtualNpus {
    fn open(&self, path: &Path, write: bool) -> Result<File, Errno> {
        self.faults.check(&format!("open {}", path.display()))?;
        let name = path.strip_prefix("/dev/accel").ok().and_then(Path::to_str);
        let spec = name.and_then(|name| self.spec(name)).ok_or(Errno::NOENT)?;
        if let Some(errno) = spec.refuses {
            return Err(errno);
        }
        if !write {
            self.complain(format!("{} is opened for reading only", path.display()));
        }
        let mut next = self.next_file.lock();
        *next += 1;
        let client = Client::new(spec.clone(), &self.log, &self.hold);
        self.files.lock().insert(*next, Arc::new(client));
        Ok(File(*next))
    }

    fn close(&self, file: File) {
        let client = self.files.lock().remove(&file.0);
        match client {
            Some(client) => client.end(),
            None => self.complain(format!("close of file {} that is not open", file.0)),
        }
    }

    unsafe fn ioctl(&self, file: File, code: u32, argument: *mut u8) -> Result<i32, Errno> {
        let client = self.client(file)?;
        let Some(name) = name_of(code) else {
            self.complain(format!(
                "no request has the number {code:#x} ({:#x})",
                code & 0xff
            ));
            return Err(Errno::NOTTY);
        };
        if code >> 8 & 0xff != u32::from(b'd') {
            self.complain(format!("{code:#x} is not of the group of DRM"));
            return Err(Errno::NOTTY);
        }
        self.faults.check(name)?;
        // SAFETY: the caller says that the argument fits.
        unsafe { client.ioctl(code, argument) }
    }

    unsafe fn mmap(
        &self,
        address: *mut u8,
        bytes: usize,
        access: MapAccess,
        file: Option<File>,
        offset: u64,
    ) -> Result<*mut u8, Errno> {
        self.faults.check(if file.is_some() {
            "mmap accel"
        } else {
            "mmap nothing"
        })?;
        if !address.is_null() {
            self.forget(address.addr(), bytes);
        }
        let mut found = None;
        if let Some(file) = file {
            let client = self.client(file)?;
            let buffers = client.buffers.lock();
            let handle = Client::handle_at(offset).ok_or(Errno::INVAL)?;
            let bo = buffers.get(handle).ok_or(Errno::INVAL)?;
            if bytes as u64 > bo.bytes {
                return Err(Errno::INVAL);
            }
            let memory = Arc::clone(&bo.memory);
            drop(buffers);
            found = Some((client, handle, memory));
        }
        let behind = found.as_ref().map(|(_, _, memory)| memory.system_file());
        // SAFETY: the caller says that a range that is replaced is not in use.
        let at = unsafe { LinuxSystem.mmap(address, bytes, access, behind, 0) }?;
        if let Some((client, handle, _)) = found {
            let mapped = at.expose_provenance() as u64;
            client.buffers.lock().note_mapped(handle, mapped);
        }
        self.maps.lock().insert(at.addr(), bytes);
        Ok(at)
    }

    unsafe fn munmap(&self, address: *mut u8, bytes: usize) -> Result<(), Errno> {
        self.faults.check("munmap")?;
        self.forget(address.addr(), bytes);
        // SAFETY: the caller says that nothing uses it.
        unsafe { LinuxSystem.munmap(address, bytes) }
    }

    fn poll(&self, file: File, _timeout_ms: i32) -> Result<bool, Errno> {
        self.complain(format!("poll of file {}, which has nothing to say", file.0));
        Err(Errno::INVAL)
    }

    fn read_file(&self, path: &Path) -> Result<Vec<u8>, Errno> {
        self.faults.check(&format!("read {}", path.display()))?;
        if path == Path::new("/proc/meminfo") {
            return Ok(b"MemTotal:       16777216 kB\nMemFree:  1 kB\n".to_vec());
        }
        self.sysfs(path).map(String::into_bytes).ok_or(Errno::NOENT)
    }

    fn read_dir(&self, path: &Path) -> Result<Vec<String>, Errno> {
        self.faults.check(&format!("list {}", path.display()))?;
        if path != Path::new("/dev/accel") || self.specs.is_empty() {
            return Err(Errno::NOENT);
        }
        Ok(self
            .specs
            .iter()
            .map(|spec| format!("accel{}", spec.node))
            .collect())
    }

    fn page_size(&self) -> usize {
        LinuxSystem.page_size()
    }
}
