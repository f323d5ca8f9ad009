//! Reading programs, and placing what passes say of them.

use crate::expectations::Seen;
use crate::failure::Failure;
use crate::{input_output, reproducer};
use ckpt_ir::text::{SPLIT_MARKER, parse, split_pieces, text_of};
use ckpt_ir::{Diagnostic, DiagnosticKind, Loc, LocId, Module, SourceText, ValueId, verify};
use ckpt_passes::PassError;
use ckpt_passes::report::text;

/// A file's text under the name that the user knows.
pub(crate) struct Program {
    name: String,
    text: String,
    /// Lines before the text, for a piece of a split file.
    first_line: usize,
}

impl Program {
    /// Reads a file, or standard input for `-`.
    pub(crate) fn read(path: &str) -> Result<Self, Failure> {
        let name = if path == "-" { "<stdin>".to_owned() } else { path.to_owned() };
        let bytes = match reproducer::replayed() {
            Some(text) => text.as_bytes().to_vec(),
            None => input_output::read(path)?,
        };
        let text = match text_of(&bytes) {
            Ok(text) => text.to_owned(),
            Err(diagnostic) => {
                let lossy = String::from_utf8_lossy(&bytes[..diagnostic.offset.min(bytes.len())]);
                let source = SourceText::new(&name, &lossy);
                return Err(refusal(&source, &[diagnostic]));
            }
        };
        reproducer::remember(&text);
        Ok(Self { name, text, first_line: 0 })
    }

    pub(crate) fn source(&self) -> SourceText<'_> {
        SourceText { first_line: self.first_line, ..SourceText::new(&self.name, &self.text) }
    }

    /// The pieces between `// -----` lines, each with its place in the file.
    pub(crate) fn pieces(&self) -> Vec<Self> {
        let piece = |(first_line, text): (usize, &str)| Self {
            name: self.name.clone(),
            text: text.to_owned(),
            first_line,
        };
        split_pieces(&self.text, SPLIT_MARKER).into_iter().map(piece).collect()
    }

    /// Diagnostics of this program as a failure.
    pub(crate) fn refusal(&self, errors: &[Diagnostic]) -> Failure {
        refusal(&self.source(), errors)
    }

    /// Reads the text into a module.
    pub(crate) fn module(&self) -> Result<Module, Failure> {
        let source = self.source();
        let module = parse(&source).map_err(|errors| refusal(&source, &errors))?;
        let violations = verify(&module);
        if violations.is_empty() { Ok(module) } else { Err(refusal(&source, &violations)) }
    }

    /// A pass's refusal, at the place of the operation or value it names.
    pub(crate) fn refuse(&self, module: &Module, error: &PassError) -> Failure {
        let kind = match error {
            PassError::TooManyOps { .. } | PassError::TooManyBytes => DiagnosticKind::Limit,
            PassError::Unmet(unmet) => {
                return Failure::Unmet(text::unmet(unmet, &|_| String::new()));
            }
            PassError::Invalid(violation) => return self.refusal(std::slice::from_ref(violation)),
            PassError::Problem(_) | PassError::Replay(_) | PassError::Refused(_) => {
                return Failure::Internal(error.to_string());
            }
            _ => DiagnosticKind::Unsupported,
        };
        let op = match error {
            PassError::RecursiveCall { op }
            | PassError::TooManyOps { op, .. }
            | PassError::NoReturn { op } => Some(*op),
            PassError::UnknownSize { value } => module.defining_op(*value),
            _ => None,
        };
        let offset = op.map_or(0, |op| module.op(op).offset as usize);
        let diagnostic = Diagnostic { kind, ..Diagnostic::invalid(offset, error.to_string()) };
        refusal(&self.source(), &[diagnostic])
    }

    /// Where a value comes from: its location if the text gives one, else its
    /// line in the text.
    pub(crate) fn place(&self, module: &Module, value: ValueId) -> String {
        let Some(op) = module.defining_op(value) else { return String::new() };
        if let Some(place) = location_text(module, module.op(op).loc) {
            return place;
        }
        let (line, column) = self.source().line_and_column(module.op(op).offset as usize);
        format!("{}:{line}:{column}", self.name)
    }
}

/// The innermost file position of a location, after its names.
fn location_text(module: &Module, loc: LocId) -> Option<String> {
    let mut names: Vec<&str> = Vec::new();
    let mut loc = loc;
    loop {
        match module.locs.get(loc) {
            Loc::Unknown => return (!names.is_empty()).then(|| names.join("/")),
            Loc::File { file, line, .. } | Loc::FileRange { file, start: (line, _), .. } => {
                let file = module.names.get(*file);
                let scope = if names.is_empty() { String::new() } else { format!(" ({})", names.join("/")) };
                return Some(format!("{file}:{line}{scope}"));
            }
            Loc::Name { name, child } => {
                names.push(module.names.get(*name));
                loc = *child;
            }
            Loc::CallSite { callee, .. } => loc = *callee,
            Loc::Fused { parts, .. } => loc = *parts.first()?,
        }
    }
}

/// Diagnostics as a failure, rendered with their lines.
fn refusal(source: &SourceText<'_>, errors: &[Diagnostic]) -> Failure {
    let rendered = errors.iter().map(|error| source.render(error)).collect();
    let kind = if errors.iter().any(|e| e.kind == DiagnosticKind::Invalid) {
        DiagnosticKind::Invalid
    } else {
        errors.first().map_or(DiagnosticKind::Invalid, |e| e.kind)
    };
    let seen = errors.iter().flat_map(|error| {
        let notes = error.notes.iter().map(|(offset, message)| ("note", *offset, message));
        std::iter::once(("error", error.offset, &error.message)).chain(notes)
    });
    let seen = seen.map(|(severity, offset, message)| {
        let (line, _) = source.line_and_column(offset);
        Seen { severity, line, message: message.clone() }
    });
    Failure::Diagnostics { kind, rendered, seen: seen.collect() }
}
