//! The trace: a line for each instruction.
//!
//! ```text
//! block_sum 3,0,0 w1 0x0010 exec=ffffffffffffffff v_add_u32_e32 v1, v0, s2 ; v0=00000005 s2=00000040
//! ```
//!
//! Kernel, work-group, wave of the group, offset from the kernel's first instruction, active lanes, the instruction,
//! and the registers that it reads, vector registers in the first active lane. Waits and no-operations are not listed.

use super::record::Record;
use crate::exec::Step;
use crate::isa::{decode, Inst, Operand, Special};
use crate::shared::signed;
use hansa_plugin_api::sync::Mutex;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Where lines go.
pub(super) struct Trace(Mutex<Box<dyn Write + Send>>);

impl std::fmt::Debug for Trace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Trace")
    }
}

impl Trace {
    /// A trace to a file, or to standard error for `-`.
    pub(super) fn to(file: &Path) -> io::Result<Self> {
        let writer: Box<dyn Write + Send> = if file == Path::new("-") {
            Box::new(io::stderr())
        } else {
            Box::new(BufWriter::new(File::create(file)?))
        };
        Ok(Self(Mutex::new(writer)))
    }

    /// Writes a line.
    pub(super) fn line(&self, record: &Record, step: &Step<'_>) {
        let [x, y, z] = step.group;
        let offset = signed(step.pc.wrapping_sub(record.entry));
        let mut line = format!(
            "{} {x},{y},{z} w{} {offset:#06x} exec={:016x} ",
            record.name, step.wave, step.exec
        );
        match record.bytes_at(step.pc).map(|bytes| decode(record.target, bytes)) {
            Some(Ok(inst)) => {
                line.push_str(&inst.text());
                registers(&mut line, &inst, step);
            }
            _ => line.push('?'),
        }
        line.push('\n');
        // A trace that cannot be written must not stop the kernel.
        let _ = self.0.lock().write_all(line.as_bytes());
    }

    /// Writes what is held back.
    pub(super) fn flush(&self) {
        let _ = self.0.lock().flush();
    }
}

/// The registers that an instruction reads, with their values.
fn registers(line: &mut String, inst: &Inst, step: &Step<'_>) {
    let lane = step.exec.trailing_zeros().min(63) as usize;
    let mut sign = " ;";
    for (operand, slot) in inst.src.iter().zip(&inst.row.src) {
        let dwords = usize::from(slot.dwords.clamp(1, 4));
        let name = match *operand {
            Operand::Vgpr(first) => format!("v{first}"),
            Operand::Agpr(first) => format!("a{first}"),
            Operand::Sgpr(first) => format!("s{first}"),
            Operand::Special(Special::VccLo) => "vcc".to_owned(),
            Operand::Special(Special::M0) => "m0".to_owned(),
            _ => continue,
        };
        let _ = write!(line, "{sign} {name}=");
        sign = "";
        for dword in (0..dwords).rev() {
            let _ = write!(line, "{:08x}", step.register(*operand, dword, lane));
        }
    }
}
