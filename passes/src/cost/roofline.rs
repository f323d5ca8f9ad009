//! Time of a kernel by the roofline model (Williams, Waterman, Patterson 2009).

use super::Device;
use ckpt_ir::{Bytes, ElementType, Flops, Micros};

/// What a kernel does.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct KernelWork {
    /// Operations of its contraction, and the type they are in.
    pub contraction: Option<(Flops, ElementType)>,
    /// All other operations.
    pub elementwise: Flops,
    /// Bytes to and from memory.
    pub traffic: Bytes,
}

/// Launch, plus the longer of computing and moving bytes.
#[must_use]
pub fn kernel_time(device: &Device, work: KernelWork) -> Micros {
    const MICROS_PER_SECOND: f64 = 1e6;
    let contraction =
        work.contraction.map_or(0.0, |(flops, ty)| flops.0 as f64 / device.contraction_rate(ty));
    let compute = contraction + work.elementwise.0 as f64 / device.elementwise_flops_per_second;
    let memory = work.traffic.0 as f64 / device.memory_bytes_per_second;
    Micros(device.launch_microseconds + MICROS_PER_SECOND * compute.max(memory))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longer_side_counts() {
        let device = Device::built_in("a100").unwrap();
        let moving =
            KernelWork { elementwise: Flops(1000), traffic: Bytes(3_000_000), ..KernelWork::default() };
        assert!((kernel_time(&device, moving).0 - 4.0).abs() < 1e-9);
        let dot = KernelWork {
            contraction: Some((Flops(187_000_000), ElementType::Bf16)),
            traffic: Bytes(1),
            ..KernelWork::default()
        };
        assert!((kernel_time(&device, dot).0 - 3.0).abs() < 1e-9);
    }
}
