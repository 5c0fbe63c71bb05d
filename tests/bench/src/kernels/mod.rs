//! Kernels that need no compiler where they run: built by `build` and committed, compared with a new build by a test.

/// The code objects, by the processor they are for.
const CODE: [(&str, &[u8]); 4] = [
    ("gfx900", include_bytes!("demo-gfx900.co")),
    ("gfx906", include_bytes!("demo-gfx906.co")),
    ("gfx908", include_bytes!("demo-gfx908.co")),
    ("gfx90a", include_bytes!("demo-gfx90a.co")),
];

/// Work-items of a work-group of `vector_add`.
pub const GROUP: u32 = 256;

/// The code object for a GPU: `vector_add` and `empty`.
///
/// # Errors
///
/// Names the processors there is code for.
pub fn code_for(gpu: &str) -> Result<&'static [u8], String> {
    CODE.iter()
        .find(|(name, _)| *name == gpu)
        .map(|(_, code)| *code)
        .ok_or_else(|| format!("there are no kernels for {gpu}, only for gfx900, gfx906, gfx908 and gfx90a"))
}

/// The text of the kernels that are compared with another implementation.
pub(crate) const COMPUTE_SOURCE: &str = include_str!("compute.cl");

/// The same for the processor [`COMPUTE_TARGET`].
pub(crate) const COMPUTE: &[u8] = include_bytes!("compute-gfx900.co");

/// The processor of [`COMPUTE`].
pub(crate) const COMPUTE_TARGET: &str = "gfx900";
