//! `--verify-diagnostics`: comments say which errors a text gives, and where.

use ckpt_ir::SourceText;
use std::fmt::Write as _;

/// An error or note as a user sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    /// `error` or `note`.
    pub(crate) severity: &'static str,
    /// The line in the file, from one.
    pub(crate) line: usize,
    /// The sentence.
    pub(crate) message: String,
}

/// `expected-error@+1 {{part of the message}}`.
#[derive(Debug)]
struct Expected {
    severity: &'static str,
    /// The line that it must be at; none for any.
    line: Option<usize>,
    /// The line of the comment.
    at: usize,
    part: String,
}

/// Compares what was seen with what the text expects. Returns what differs, a
/// line each; nothing if all is as expected. Notes that nobody expects are no
/// difference.
pub(crate) fn differences(source: &SourceText<'_>, seen: &[Seen]) -> String {
    let mut out = String::new();
    let mut left: Vec<&Seen> = seen.iter().collect();
    for expected in expectations(source) {
        let fits = |seen: &&Seen| {
            seen.severity == expected.severity
                && expected.line.is_none_or(|line| line == seen.line)
                && seen.message.contains(&expected.part)
        };
        match left.iter().position(fits) {
            Some(found) => {
                left.remove(found);
            }
            None => {
                let Expected { severity, at, part, .. } = expected;
                let _ = writeln!(
                    out,
                    "{}:{at}:1: error: expected {severity} {part:?} was not produced",
                    source.name
                );
            }
        }
    }
    for seen in left.iter().filter(|seen| seen.severity == "error") {
        let _ = writeln!(out, "{}:{}:1: error: unexpected error: {}", source.name, seen.line, seen.message);
    }
    out
}

/// Each `expected-…` comment of a text, in order; linear in the text.
fn expectations(source: &SourceText<'_>) -> Vec<Expected> {
    let mut found = Vec::new();
    for (index, line) in source.text.lines().enumerate() {
        let at = source.first_line + index + 1;
        for severity in ["error", "note", "warning", "remark"] {
            let marker = format!("expected-{severity}");
            for (place, _) in line.match_indices(&marker) {
                found.extend(expectation(severity, &line[place + marker.len()..], at));
            }
        }
    }
    found
}

/// What stands behind `expected-error`: `@above`, `@+2`, a count, `{{…}}`.
fn expectation(severity: &'static str, rest: &str, at: usize) -> Vec<Expected> {
    let (head, Some((part, _))) =
        (rest.split("{{").next(), rest.split_once("{{").and_then(|r| r.1.split_once("}}")))
    else {
        return Vec::new();
    };
    let head = head.unwrap_or_default().trim();
    let (place, count) = match head.strip_prefix('@') {
        Some(place) => place.split_once(char::is_whitespace).unwrap_or((place, "")),
        None => ("", head),
    };
    let line = match place {
        "" => Some(at),
        "unknown" => None,
        "above" => Some(at.saturating_sub(1)),
        "below" => Some(at + 1),
        distance if distance.starts_with(['+', '-']) => {
            distance.parse().ok().map(|distance: isize| at.saturating_add_signed(distance))
        }
        absolute => absolute.parse().ok(),
    };
    let expected = || Expected { severity, line, at, part: part.to_owned() };
    (0..count.trim().parse().unwrap_or(1)).map(|_| expected()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(line: usize, message: &str) -> Seen {
        Seen { severity: "error", line, message: message.to_owned() }
    }

    #[test]
    fn places_of_expectations() {
        let text =
            "a // expected-error {{x}}\n// expected-error@above {{y}}\n// expected-error@+1 2 {{z}}\nb";
        let source = SourceText::new("f", text);
        let all = [seen(1, "an x"), seen(1, "y"), seen(4, "z 1"), seen(4, "z 2")];
        assert_eq!(differences(&source, &all), "");
        let missing = differences(&source, &all[..3]);
        assert_eq!(missing, "f:3:1: error: expected error \"z\" was not produced\n");
        let more = [&all[..], &[seen(2, "w")]].concat();
        assert_eq!(differences(&source, &more), "f:2:1: error: unexpected error: w\n");
    }
}
