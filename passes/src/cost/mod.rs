//! The cost model: a roofline over device descriptions.

mod device;
mod roofline;

pub use device::{Device, DeviceError};
pub use roofline::{KernelWork, kernel_time};
