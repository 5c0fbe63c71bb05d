//! Whole ways of plugins: what the search finds, who is started, and what is said of the rest.

mod searching;
mod starting;
mod support;
