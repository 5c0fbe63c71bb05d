//! Whole programs: the HIP program of `program.cpp`, compiled when the benchmark runs, beside the host's `memcpy`, the
//! same dispatches through HSA, and the clock.

use crate::call;
use crate::client::{Client, Gpu, Result};
use crate::kernels::{code_for, GROUP};
use crate::report::Row;
use crate::rivals;
use crate::scratch::Scratch;
use std::collections::HashMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

const SOURCE: &str = include_str!("program.cpp");

/// A value of the program: its row's name, its unit, its goal in words and in numbers.
struct Measure(&'static str, &'static str, &'static str, f64);

const UP: Measure = Measure(
    "hipMemcpy of 64 MiB to the device",
    "ms",
    "0.7 of its speed",
    1.0 / 0.7,
);
const DOWN: Measure = Measure(
    "hipMemcpy of 64 MiB from the device",
    "ms",
    "0.7 of its speed",
    1.0 / 0.7,
);
const LAUNCH: Measure = Measure("10,000 empty HIP launches, each", "us", "at most 20 us", 20.0);
const STREAM: Measure = Measure("1000 small HIP kernels, one sync", "ms", "under 3x", 3.0);
const START: Measure = Measure(
    "start of a HIP program to first kernel",
    "ms",
    "under 150 ms",
    150.0,
);
const BESIDE: Measure = Measure("  the same, compiling at every start", "ms", "at most 1.0", 1.0);
const OURS: Measure = Measure("  of which in this library", "ms", "under 30 ms", 30.0);

/// The rows of the HIP program, or why there are none.
pub(crate) fn hip(client: &Client, library: &Path) -> Result<Vec<Row>> {
    let Some(gpu) = client.gpu()? else {
        return Ok(Vec::new());
    };
    match Program::compile(&gpu, library) {
        Ok(program) => program.rows(client, &gpu),
        Err(why) => Ok([UP, DOWN, LAUNCH, STREAM, START, BESIDE, OURS]
            .iter()
            .map(|Measure(name, unit, goal, _)| Row::missing(name, unit, goal, &why))
            .collect()),
    }
}

/// Milliseconds from the start of the program to the end of its first kernel.
struct Starts {
    /// As `hansa run` starts it for the second time, if what keeps HIP's own kernels is there.
    usual: Result<f64>,
    /// With the runtime alone in front, so that HIP compiles.
    compiling: f64,
    /// The same with AMD's runtime on a device of the virtual kernel, if both are there.
    theirs: Result<f64>,
}

/// The compiled program.
struct Program {
    directory: Scratch,
    program: PathBuf,
    /// Where the runtime lies.
    libraries: PathBuf,
}

impl Program {
    fn compile(gpu: &Gpu, library: &Path) -> Result<Self> {
        let directory = Scratch::new("hip")?;
        let source = directory.file("program.cpp", SOURCE.as_bytes())?;
        let program = directory.path().join("program");
        let result = Command::new("hipcc")
            .args(["-std=c++17", "-O2", "-o"])
            .arg(&program)
            .arg(&source)
            .arg(format!("--offload-arch={}", gpu.name))
            // Its compiler leaves directories of its own behind.
            .env("TMPDIR", directory.path())
            .output();
        let output = match result {
            Ok(output) => output,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err("not measured: there is no hipcc here".to_owned())
            }
            Err(error) => return Err(format!("not measured: hipcc: {error}")),
        };
        if !output.status.success() {
            let errors = String::from_utf8_lossy(&output.stderr);
            let first = errors.lines().find(|line| line.contains("error"));
            return Err(format!(
                "not measured: hipcc failed: {}",
                first.unwrap_or_default()
            ));
        }
        let libraries = library.parent().unwrap_or_else(|| Path::new("/")).to_path_buf();
        Ok(Self {
            directory,
            program,
            libraries,
        })
    }

    /// Runs it on the runtime that is measured and gives what it prints.
    fn run(&self, change: impl FnOnce(&mut Command)) -> Result<HashMap<String, f64>> {
        let mut command = Command::new(&self.program);
        command.env("LD_LIBRARY_PATH", &self.libraries);
        change(&mut command);
        let output = command
            .output()
            .map_err(|error| format!("{}: {error}", self.program.display()))?;
        if !output.status.success() {
            return Err(format!(
                "the HIP program ended with {}: {}",
                output.status,
                String::from_utf8_lossy(&output.stderr)
            ));
        }
        Ok(String::from_utf8_lossy(&output.stdout)
            .lines()
            .filter_map(|line| {
                let (name, value) = line.split_once(' ')?;
                Some((name.to_owned(), value.parse().ok()?))
            })
            .collect())
    }

    fn rows(&self, client: &Client, gpu: &Gpu) -> Result<Vec<Row>> {
        let code = self.directory.file("kernels.co", code_for(&gpu.name)?)?;
        let values = self.run(|command| {
            command.arg("work").arg(code);
        })?;
        let value = |name: &str| value(&values, name);
        let against = |Measure(name, unit, goal, most): Measure, ours, peer| {
            Row::against(name, ours, unit, peer, most, goal)
        };
        let below =
            |Measure(name, unit, goal, limit): Measure, ours| Row::below(name, ours, unit, limit, goal);
        let memcpy = ("memcpy", value("memcpy")?);
        let starts = self.starts()?;
        let beside = match starts.theirs {
            Ok(theirs) => against(
                BESIDE,
                starts.compiling,
                ("AMD's runtime, on a virtual device", theirs),
            ),
            Err(why) => Row::missing(BESIDE.0, BESIDE.1, BESIDE.2, &why),
        };
        Ok(vec![
            against(UP, value("up")?, memcpy),
            against(DOWN, value("down")?, memcpy),
            below(LAUNCH, value("launch")?),
            against(
                STREAM,
                value("stream")?,
                ("the same through HSA", plain(client, gpu)?),
            ),
            match starts.usual {
                Ok(usual) => below(START, usual),
                Err(why) => Row::missing(START.0, START.1, START.2, &why),
            },
            beside,
            below(OURS, self.ours()?),
        ])
    }

    /// The program's starts, in turns; the middle ones of five each.
    fn starts(&self) -> Result<Starts> {
        let preload = rivals::preload(&self.libraries.join("libhsa-runtime64.so.1"));
        let once = |change: &dyn Fn(&mut Command)| -> Result<f64> {
            let begin = monotonic_ms();
            let values = self.run(|command| change(command))?;
            Ok(value(&values, "first")? - begin)
        };
        let keeper = self.keeper();
        let usual = |keeper: &Path| once(&|command| self.keeping(keeper, command));
        if let Ok(keeper) = &keeper {
            // The first one fills the directory.
            usual(keeper)?;
        }
        let (mut kept, mut compiling, mut theirs) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..5 {
            if let Ok(keeper) = &keeper {
                kept.push(usual(keeper)?);
            }
            compiling.push(once(&|_| {})?);
            if let Ok(preload) = &preload {
                theirs.push(once(&|command| {
                    rivals::on_virtual_device(command, preload);
                    let place = Path::new(rivals::THEIRS)
                        .parent()
                        .unwrap_or_else(|| Path::new("/"));
                    command.env("LD_LIBRARY_PATH", place);
                })?);
            }
        }
        let middle = |mut times: Vec<f64>| {
            times.sort_by(f64::total_cmp);
            times[times.len() / 2]
        };
        Ok(Starts {
            usual: keeper.map(|_| middle(kept)),
            compiling: middle(compiling),
            theirs: preload.map(|_| middle(theirs)),
        })
    }

    /// The library with which `hansa run` keeps code.
    fn keeper(&self) -> Result<PathBuf> {
        let library = self.libraries.join("libhansa_compile_cache.so");
        if library.exists() {
            return Ok(library);
        }
        Err(format!(
            "not measured: {} is not there; cargo build --release --workspace makes it",
            library.display()
        ))
    }

    /// Has the program keep the code that it compiles, as `hansa run` does.
    fn keeping(&self, keeper: &Path, command: &mut Command) {
        command
            .env("LD_PRELOAD", keeper)
            .env("HANSA_COMPILE_CACHE", self.directory.path().join("compiled"));
    }

    /// Milliseconds of the same that the program's main thread was in calls of the runtime, from a trace.
    fn ours(&self) -> Result<f64> {
        let file = self.directory.path().join("trace");
        self.run(|command| {
            command.env("HSA_TRACE", format!("text:{}", file.display()));
        })?;
        let trace = std::fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        Ok(time_in_calls(&trace))
    }
}

fn value(values: &HashMap<String, f64>, name: &str) -> Result<f64> {
    let missing = || format!("the HIP program does not say {name}");
    values.get(name).copied().ok_or_else(missing)
}

/// What the program's `CLOCK_MONOTONIC` shows.
fn monotonic_ms() -> f64 {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `now` is a variable of the right type.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
    now.tv_sec as f64 * 1e3 + now.tv_nsec as f64 / 1e6
}

/// The sum of the times at the ends of a trace's lines, for the first thread, in milliseconds. Calls within callbacks count
/// twice.
fn time_in_calls(trace: &str) -> f64 {
    let thread = |line: &str| line.split(' ').nth(2).map(str::to_owned);
    let Some(first) = trace.lines().find_map(thread) else {
        return 0.0;
    };
    trace
        .lines()
        .filter(|line| thread(line).as_ref() == Some(&first))
        .filter_map(|line| {
            let (_, time) = line.strip_suffix(" us]")?.rsplit_once('[')?;
            time.parse::<f64>().ok()
        })
        .sum::<f64>()
        / 1e3
}

/// A thousand vector sums of one work-group in order, then a barrier, by the packets that HIP writes for them; milliseconds.
fn plain(client: &Client, gpu: &Gpu) -> Result<f64> {
    const FLOATS: usize = GROUP as usize;
    let executable = client.load_code(gpu.agent, code_for(&gpu.name)?)?;
    let kernel = client.kernel(executable, gpu.agent, c"vector_add.kd")?;
    let queue = client.queue(gpu.agent)?;
    let host = client.host_region()?;
    let data = client
        .allocate(host, 3 * FLOATS * size_of::<f32>())?
        .cast::<f32>();
    // SAFETY: an allocation of that many floats.
    unsafe { std::ptr::write_bytes(data, 0, 3 * FLOATS) };
    let bytes = usize::try_from(kernel.kernarg_bytes).unwrap_or(0).max(32);
    let arguments = client.allocate(host, bytes)?.cast::<u64>();
    let address = |index: usize| data.wrapping_add(index * FLOATS).expose_provenance() as u64;
    let words = [address(0), address(1), address(2), u64::from(GROUP)];
    // SAFETY: an allocation of at least four words.
    unsafe { arguments.cast::<[u64; 4]>().write(words) };
    let mut best = f64::INFINITY;
    for _ in 0..7 {
        let start = Instant::now();
        queue.dispatch_in_order(1000, &kernel, GROUP, GROUP, arguments.cast());
        if !queue.wait() {
            return Err("a thousand kernels did not complete within ten seconds".to_owned());
        }
        best = best.min(start.elapsed().as_secs_f64() * 1e3);
    }
    drop(queue);
    call!(client, hsa_memory_free_fn(arguments.cast()))?;
    call!(client, hsa_memory_free_fn(data.cast()))?;
    call!(client, hsa_executable_destroy_fn(executable))?;
    Ok(best)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_in_calls_is_the_first_thread_s() {
        let trace = "hsa 0.1 7 hsa_init() = HSA_STATUS_SUCCESS [1500.000 us]\n\
                     hsa 0.2 8 hsa_signal_load_relaxed(signal=0x1) = 0 [9000.000 us]\n\
                     hsa 0.3 7 hsa_signal_store_relaxed(signal=0x1, value=[1]) [500.000 us]\n";
        assert!((time_in_calls(trace) - 2.0).abs() < 1e-9);
        assert!(time_in_calls("") == 0.0);
    }
}
