//! Benchmarks that compare two things in one run and print ratios
