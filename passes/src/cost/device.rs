//! Device descriptions, as JSON.

use ckpt_ir::ElementType;
use serde::Deserialize;

/// What the cost model knows of a device. Rates are those that good kernels
/// reach, not peaks.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Device {
    /// Its name, as reports give it.
    pub name: String,
    /// Where the figures come from.
    #[serde(default)]
    pub note: String,
    /// Bytes per second to and from device memory.
    pub memory_bytes_per_second: f64,
    /// Fixed cost of a kernel, in microseconds.
    pub launch_microseconds: f64,
    /// Elementwise operations per second.
    pub elementwise_flops_per_second: f64,
    /// Operations per second of matrix products and convolutions.
    pub contraction_flops_per_second: ContractionRates,
}

/// Rates of contractions by operand type, in operations per second.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct ContractionRates {
    pub f64: f64,
    pub f32: f64,
    pub bf16: f64,
    pub f16: f64,
    pub integer: f64,
}

/// Why a device description was refused.
#[derive(Debug, thiserror::Error)]
pub enum DeviceError {
    /// Not of the form of a description; the message carries line and column.
    #[error("not a device description: {0}")]
    Json(#[from] serde_json::Error),
    /// A rate that is not a positive number.
    #[error("device {device:?}: every rate must be a positive number")]
    BadRate {
        /// The device's name.
        device: String,
    },
}

/// The descriptions that the compiler carries.
const BUILT_IN: [(&str, &str); 3] = [
    ("cpu", include_str!("devices/cpu.json")),
    ("a100", include_str!("devices/a100.json")),
    ("h200", include_str!("devices/h200.json")),
];

impl Default for Device {
    /// The `a100` description: training steps are planned for accelerators
    /// unless the user says otherwise.
    fn default() -> Self {
        Self::built_in("a100").expect("invariant: the built-in descriptions are valid, see the tests")
    }
}

impl Device {
    /// Reads a description.
    ///
    /// # Errors
    /// Malformed JSON, unknown or missing fields, rates that are not positive.
    pub fn from_json(text: &str) -> Result<Self, DeviceError> {
        let device: Self = serde_json::from_str(text)?;
        let rates = device.contraction_flops_per_second;
        let all = [
            device.memory_bytes_per_second,
            device.elementwise_flops_per_second,
            rates.f64,
            rates.f32,
            rates.bf16,
            rates.f16,
            rates.integer,
        ];
        let launch_is_fine = device.launch_microseconds.is_finite() && device.launch_microseconds >= 0.0;
        if !launch_is_fine || all.iter().any(|rate| !rate.is_finite() || *rate <= 0.0) {
            return Err(DeviceError::BadRate { device: device.name });
        }
        Ok(device)
    }

    /// The built-in description of a name.
    #[must_use]
    pub fn built_in(name: &str) -> Option<Self> {
        let (_, text) = BUILT_IN.iter().find(|(known, _)| *known == name)?;
        Self::from_json(text).ok()
    }

    /// Names of the built-in descriptions.
    pub fn built_in_names() -> impl Iterator<Item = &'static str> {
        BUILT_IN.iter().map(|(name, _)| *name)
    }

    /// Contraction rate for operands of a type.
    #[must_use]
    pub fn contraction_rate(&self, element: ElementType) -> f64 {
        let rates = self.contraction_flops_per_second;
        match element.part() {
            ElementType::F64 => rates.f64,
            ElementType::Bf16 => rates.bf16,
            ElementType::F16 => rates.f16,
            element if element.is_float() && element.bit_width() <= 8 => rates.f16,
            element if element.is_float() => rates.f32,
            _ => rates.integer,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_descriptions_are_valid() {
        for name in Device::built_in_names() {
            assert_eq!(Device::built_in(name).unwrap().name, name);
        }
        assert!(Device::built_in("abacus").is_none());
    }

    #[test]
    fn bad_descriptions_are_refused() {
        let good = BUILT_IN[0].1;
        assert!(matches!(Device::from_json("{"), Err(DeviceError::Json(_))));
        let zero = good.replace("40e9", "0");
        assert!(matches!(Device::from_json(&zero), Err(DeviceError::BadRate { .. })));
    }
}
