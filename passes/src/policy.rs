//! What the user asks for: `--remat=POLICY` as a value.

use ckpt_ir::Bytes;
use std::fmt;
use std::str::FromStr;

/// A rematerialisation policy.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Policy {
    /// The program as it stands.
    #[default]
    None,
    /// Everything that the device must hold (arguments, results, temporaries,
    /// workspace) stays within the size.
    Budget(Size),
    /// The same without the arguments.
    Activations(Size),
    /// The smallest peak.
    Min,
    /// Keep what crosses every √n-th step of the forward pass (Chen et al. 2016).
    Sqrt,
    /// Keep only what cannot be recomputed.
    Full,
}

/// A size as written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Size {
    /// Bytes.
    Absolute(Bytes),
    /// A percentage of the peak without rematerialisation.
    PercentOfPeak(f64),
}

impl Size {
    /// The size in bytes, where `peak` is the peak without rematerialisation.
    #[must_use]
    pub fn resolve(self, peak: Bytes) -> Bytes {
        match self {
            Self::Absolute(bytes) => bytes,
            Self::PercentOfPeak(percent) => Bytes((peak.0 as f64 * percent / 100.0) as u64),
        }
    }
}

/// A text that is no policy or size; displays what would be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    /// Not a policy.
    #[error("{0:?} is not a policy: write none, budget:SIZE, activations:SIZE, min, sqrt or full")]
    Policy(String),
    /// Not a size.
    #[error("{0:?} is not a size: write bytes, 8GiB, 500MB or 60%")]
    Size(String),
}

impl FromStr for Policy {
    type Err = PolicyError;

    fn from_str(text: &str) -> Result<Self, PolicyError> {
        match text.split_once(':') {
            Some(("budget", size)) => Ok(Self::Budget(size.parse()?)),
            Some(("activations", size)) => Ok(Self::Activations(size.parse()?)),
            None if text == "none" => Ok(Self::None),
            None if text == "min" => Ok(Self::Min),
            None if text == "sqrt" => Ok(Self::Sqrt),
            None if text == "full" => Ok(Self::Full),
            _ => Err(PolicyError::Policy(text.to_owned())),
        }
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Budget(size) => write!(f, "budget:{size}"),
            Self::Activations(size) => write!(f, "activations:{size}"),
            Self::Min => f.write_str("min"),
            Self::Sqrt => f.write_str("sqrt"),
            Self::Full => f.write_str("full"),
        }
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absolute(bytes) => write!(f, "{}", bytes.0),
            Self::PercentOfPeak(percent) => write!(f, "{percent}%"),
        }
    }
}

/// Unit suffixes and their factors; a suffix stands before those it ends with.
const UNITS: [(&str, f64); 11] = [
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
    ("TiB", 1_099_511_627_776.0),
    ("kB", 1e3),
    ("KB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("TB", 1e12),
    ("B", 1.0),
    ("", 1.0),
];

impl FromStr for Size {
    type Err = PolicyError;

    fn from_str(text: &str) -> Result<Self, PolicyError> {
        let bad = || PolicyError::Size(text.to_owned());
        let number = |digits: &str| {
            digits.trim().parse::<f64>().ok().filter(|n| n.is_finite() && *n >= 0.0).ok_or_else(bad)
        };
        if let Some(percent) = text.strip_suffix('%') {
            return Ok(Self::PercentOfPeak(number(percent)?));
        }
        if let Ok(bytes) = text.parse::<u64>() {
            return Ok(Self::Absolute(Bytes(bytes)));
        }
        let (suffix, factor) = UNITS.iter().find(|(suffix, _)| text.ends_with(suffix)).ok_or_else(bad)?;
        let bytes = number(&text[..text.len() - suffix.len()])? * factor;
        if bytes >= (1u64 << 63) as f64 { Err(bad()) } else { Ok(Self::Absolute(Bytes(bytes as u64))) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_in_every_unit() {
        let bytes = |text: &str| text.parse::<Size>().unwrap().resolve(Bytes(1000));
        assert_eq!(bytes("17"), Bytes(17));
        assert_eq!(bytes("8GiB"), Bytes(8 << 30));
        assert_eq!(bytes("1.5MB"), Bytes(1_500_000));
        assert_eq!(bytes("60%"), Bytes(600));
        for bad in ["8 parsecs", "-1GiB", "1e30GB", "", "%", "nanGB", "-5"] {
            assert!(bad.parse::<Size>().is_err(), "{bad}");
        }
    }

    #[test]
    fn policies_are_read_as_they_are_printed() {
        for text in ["none", "min", "sqrt", "full", "budget:5", "activations:60%"] {
            assert_eq!(text.parse::<Policy>().unwrap().to_string(), text);
        }
        for bad in ["", "some", "budget", "budget:", "none:3"] {
            assert!(bad.parse::<Policy>().is_err(), "{bad}");
        }
    }
}
