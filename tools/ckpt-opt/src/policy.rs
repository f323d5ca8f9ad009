//! `--remat=POLICY` as a value.

use ckpt_planner::Bytes;
use std::str::FromStr;

/// What the user asked the planner to do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Policy {
    /// Keep everything.
    None,
    /// The smallest peak.
    Min,
    /// Everything that the device must hold stays within the size.
    Budget(Size),
    /// The same without the arguments.
    Activations(Size),
}

/// A size as the user wrote it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Size {
    /// Bytes.
    Absolute(Bytes),
    /// A percentage of the peak without rematerialisation.
    PercentOfPeak(f64),
}

impl Size {
    /// The size in bytes, where `peak` is the peak without rematerialisation.
    pub(crate) fn resolve(self, peak: Bytes) -> Bytes {
        match self {
            Self::Absolute(bytes) => bytes,
            Self::PercentOfPeak(percent) => Bytes((peak.0 as f64 * percent / 100.0) as u64),
        }
    }
}

impl FromStr for Policy {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            None if text == "none" => Ok(Self::None),
            None if text == "min" => Ok(Self::Min),
            Some(("budget", size)) => Ok(Self::Budget(size.parse()?)),
            Some(("activations", size)) => Ok(Self::Activations(size.parse()?)),
            _ => Err("expected none, min, budget:SIZE or activations:SIZE".into()),
        }
    }
}

/// Unit suffixes and their factors; the longest match comes first.
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
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bad = || format!("{text:?} is not a size: write bytes, 8GiB, 500MB or 60%");
        let number = |digits: &str| {
            digits.trim().parse::<f64>().ok().filter(|n| n.is_finite() && *n >= 0.0).ok_or_else(bad)
        };
        if let Some(percent) = text.strip_suffix('%') {
            return Ok(Self::PercentOfPeak(number(percent)?));
        }
        if let Ok(bytes) = text.parse::<u64>() {
            return Ok(Self::Absolute(Bytes(bytes)));
        }
        let (suffix, factor) = UNITS.iter().find(|(s, _)| text.ends_with(s)).ok_or_else(bad)?;
        let bytes = number(&text[..text.len() - suffix.len()])? * factor;
        if bytes >= (1u64 << 63) as f64 {
            Err(bad())
        } else {
            Ok(Self::Absolute(Bytes(bytes as u64)))
        }
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
        assert!("8 parsecs".parse::<Size>().is_err());
        assert!("-1GiB".parse::<Size>().is_err());
        assert!("1e30GB".parse::<Size>().is_err());
    }

    #[test]
    fn policies_are_read() {
        assert_eq!("none".parse(), Ok(Policy::None));
        assert_eq!("activations:5".parse(), Ok(Policy::Activations(Size::Absolute(Bytes(5)))));
        assert!("some".parse::<Policy>().is_err());
    }
}
