//! A multistep solver that keeps its history where inputs change [A16].

mod pendulum;
mod segments;
mod tables;
#[cfg(test)]
mod tests;
mod trials;
mod triple;
mod wheel;

pub(crate) use tables::{TABLE_2, TABLE_3, TABLE_4};
