//! `hansa demo`: lists the agents and computes a vector sum on a GPU, as any program would.

use crate::run::library;
use hansa_bench::call;
use hansa_bench::client::{Client, Gpu, Result};
use hansa_bench::kernels::{code_for, GROUP};
use hansa_plugin_api::hsa::*;
use std::process::ExitCode;
use std::time::Instant;

pub(crate) fn run(count: u32) -> Result<ExitCode> {
    let path = library()?;
    println!("Runtime  {}", path.display());
    let client = Client::load(&path)?;
    call!(client, hsa_init_fn())?;
    for (index, agent) in client.agents()?.into_iter().enumerate() {
        let kind = match client.agent_u32(agent, hsa_agent_info_t::DEVICE)? {
            0 => "CPU",
            1 => "GPU",
            _ => "accelerator",
        };
        println!("Agent {index}  {kind} {}", client.agent_name(agent)?);
    }
    let Some(gpu) = client.gpu()? else {
        return Err("there is no GPU agent; `hansa doctor` says why".to_owned());
    };
    let wrong = vector_add(&client, &gpu, count)?;
    call!(client, hsa_shut_down_fn())?;
    if wrong == 0 {
        println!("Check    all {count} sums are right");
        Ok(ExitCode::SUCCESS)
    } else {
        println!("Check    {wrong} of {count} sums are WRONG");
        Ok(ExitCode::FAILURE)
    }
}

/// The arguments of `vector_add`, as the kernel reads them.
#[repr(C)]
struct Arguments {
    a: *mut f32,
    b: *mut f32,
    sum: *mut f32,
    count: u32,
}

/// Adds two vectors on a GPU and answers how many sums are wrong.
fn vector_add(client: &Client, gpu: &Gpu, count: u32) -> Result<u32> {
    let executable = client.load_code(gpu.agent, code_for(&gpu.name)?)?;
    let kernel = client.kernel(executable, gpu.agent, c"vector_add.kd")?;
    let region = client.host_region()?;
    let bytes = count as usize * size_of::<f32>();
    let vector = || client.allocate(region, bytes).map(<*mut c_void>::cast::<f32>);
    let (a, b, sum) = (vector()?, vector()?, vector()?);
    let input = |i: u32| ((i % 1000) as f32 * 0.5, (i % 77) as f32);
    // SAFETY: a zero-filled allocation of `count` numbers, which no device uses yet.
    let first = unsafe { std::slice::from_raw_parts_mut(a, count as usize) };
    // SAFETY: as above.
    let second = unsafe { std::slice::from_raw_parts_mut(b, count as usize) };
    for (i, (x, y)) in (0..count).zip(first.iter_mut().zip(second)) {
        (*x, *y) = input(i);
    }
    let bytes = (kernel.kernarg_bytes as usize).max(size_of::<Arguments>());
    let arguments = client.allocate(region, bytes)?.cast::<Arguments>();
    // SAFETY: a fresh allocation that is large enough.
    unsafe { arguments.write(Arguments { a, b, sum, count }) };

    let queue = client.queue(gpu.agent)?;
    let start = Instant::now();
    queue.dispatch(&kernel, count.next_multiple_of(GROUP), GROUP, arguments.cast());
    if !queue.wait() {
        return Err("the kernel did not end within ten seconds".to_owned());
    }
    println!(
        "Kernel   vector_add over {count} numbers on {}: {:.2} ms",
        gpu.name,
        start.elapsed().as_secs_f64() * 1e3
    );
    drop(queue);
    // SAFETY: an allocation of `count` numbers, which the kernel has written; it is done.
    let sums = unsafe { std::slice::from_raw_parts(sum, count as usize) };
    let is_right = |i: u32, got: &f32| {
        let (x, y) = input(i);
        got.to_bits() == (x + y).to_bits()
    };
    let wrong = (0..count).zip(sums).filter(|&(i, got)| !is_right(i, got)).count();
    for memory in [a.cast::<c_void>(), b.cast(), sum.cast(), arguments.cast()] {
        call!(client, hsa_memory_free_fn(memory))?;
    }
    call!(client, hsa_executable_destroy_fn(executable))?;
    Ok(u32::try_from(wrong).unwrap_or(u32::MAX))
}
