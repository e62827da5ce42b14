//! Small dense algebra for the macro-step loop: matrices of a few to a few dozen rows that are factored again
//! whenever a local model changes. Everything works in memory that was taken before; libraries for dense algebra
//! allocate in these operations. Tested against nalgebra, which only these tests use.

mod block_lu;
mod closed_loop;
mod direct_loop;
mod eigen;
mod expm;
mod logm;
mod lu;
mod matrix;
mod pseudo_inverse;
mod root;
mod spectral_radius;
mod svd;
mod triangle;
mod variable_order;

pub use block_lu::{BlockLu, BlockPlace};
pub use closed_loop::{ClosedLoop, StackPlace};
pub use direct_loop::DirectLoop;
pub use eigen::{Complex, eigenvalues, eigenvector};
pub use expm::Exponential;
pub use logm::logarithm;
pub use lu::Lu;
pub use matrix::Matrix;
pub use pseudo_inverse::PseudoInverse;
pub use root::{RootFinder, RootOutcome, RootProblem};
pub use spectral_radius::{SpectralRadius, spectral_radius};
pub use svd::Svd;
pub use triangle::Triangle;
pub use variable_order::variable_order_exponential;
