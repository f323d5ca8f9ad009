//! The text of one function: single-assignment values, each written at the
//! outermost loop level at which its operands exist.
//!
//! A pure operation goes to the level of its innermost operand and is written
//! once per level, so that loop-invariant work leaves the loops here, whatever
//! the order in which the emitter asks for it.

use std::collections::HashMap;
use std::fmt::{self, Write as _};

/// A scalar type of the emitted text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub(crate) enum Ty {
    I1,
    I8,
    I16,
    I32,
    I64,
    F16,
    F32,
    F64,
    Ptr,
}

impl Ty {
    /// Bits of an integer or float.
    pub(crate) fn bits(self) -> u32 {
        match self {
            Self::I1 => 1,
            Self::I8 => 8,
            Self::I16 | Self::F16 => 16,
            Self::I32 | Self::F32 => 32,
            Self::I64 | Self::F64 | Self::Ptr => 64,
        }
    }

    /// The integer type of as many bits.
    pub(crate) fn as_integer(self) -> Self {
        match self {
            Self::F16 => Self::I16,
            Self::F32 => Self::I32,
            Self::F64 | Self::Ptr => Self::I64,
            integer => integer,
        }
    }
}

impl fmt::Display for Ty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::I1 => "i1",
            Self::I8 => "i8",
            Self::I16 => "i16",
            Self::I32 => "i32",
            Self::I64 => "i64",
            Self::F16 => "f16",
            Self::F32 => "f32",
            Self::F64 => "f64",
            Self::Ptr => "!llvm.ptr",
        })
    }
}

/// A value of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Ssa {
    /// Its number, unique in the function.
    pub(crate) id: u32,
    /// The loop level at which it is defined; 0 outside all loops.
    pub(crate) level: u8,
    /// Its type.
    pub(crate) ty: Ty,
}

impl fmt::Display for Ssa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "%{}", self.id)
    }
}

/// One loop level: its text and what is known there.
#[derive(Debug, Default)]
struct Level {
    /// The line that opens the loop; written when it closes, so that what
    /// moves out of the loop meanwhile stands before it.
    header: String,
    text: String,
    known: HashMap<String, Ssa>,
}

/// A function under construction.
#[derive(Debug)]
pub(crate) struct Body {
    levels: Vec<Level>,
    next: u32,
}

impl Default for Body {
    fn default() -> Self {
        Self { levels: vec![Level::default()], next: 0 }
    }
}

impl Body {
    /// A value that the caller's text defines at level 0, such as a parameter.
    pub(crate) fn parameter(&mut self, ty: Ty) -> Ssa {
        self.fresh(ty, 0)
    }

    fn fresh(&mut self, ty: Ty, level: u8) -> Ssa {
        let id = self.next;
        self.next += 1;
        Ssa { id, level, ty }
    }

    /// The level of what is written now.
    pub(crate) fn level(&self) -> u8 {
        (self.levels.len() - 1) as u8
    }

    /// A pure operation: its text after `=`, its operands and result type.
    pub(crate) fn pure(&mut self, ty: Ty, operands: &[Ssa], text: String) -> Ssa {
        let level = operands.iter().map(|operand| operand.level).max().unwrap_or(0);
        if let Some(known) = self.levels[usize::from(level)].known.get(&text) {
            return *known;
        }
        let result = self.fresh(ty, level);
        let target = &mut self.levels[usize::from(level)];
        // Writing to a string cannot fail.
        let _ = writeln!(target.text, "{result} = {text}");
        target.known.insert(text, result);
        result
    }

    /// An operation that reads or writes memory: it stays where it is written.
    fn here(&mut self, text: &str) {
        if let Some(level) = self.levels.last_mut() {
            let _ = writeln!(level.text, "{text}");
        }
    }

    /// An integer constant, wrapped to the type.
    pub(crate) fn int(&mut self, ty: Ty, value: i64) -> Ssa {
        let text = match ty {
            Ty::I1 => format!("arith.constant {}", value & 1 == 1),
            _ => {
                let spare = 64 - ty.bits();
                format!("arith.constant {} : {ty}", value << spare >> spare)
            }
        };
        self.pure(ty, &[], text)
    }

    /// A float constant by its bits.
    pub(crate) fn float_bits(&mut self, ty: Ty, bits: u64) -> Ssa {
        let digits = ty.bits() as usize / 4;
        self.pure(ty, &[], format!("arith.constant 0x{bits:0digits$X} : {ty}"))
    }

    /// A constant of type `f32` or `f64`, rounded to it.
    pub(crate) fn float(&mut self, ty: Ty, value: f64) -> Ssa {
        match ty {
            Ty::F64 => self.float_bits(ty, value.to_bits()),
            _ => self.float_bits(Ty::F32, u64::from((value as f32).to_bits())),
        }
    }

    /// `op a : T`.
    pub(crate) fn unary(&mut self, op: &str, a: Ssa) -> Ssa {
        self.pure(a.ty, &[a], format!("{op} {a} : {}", a.ty))
    }

    /// `op a, b : T`.
    pub(crate) fn binary(&mut self, op: &str, a: Ssa, b: Ssa) -> Ssa {
        self.pure(a.ty, &[a, b], format!("{op} {a}, {b} : {}", a.ty))
    }

    /// `math.fma a, b, c : T`: one rounding.
    pub(crate) fn fma(&mut self, a: Ssa, b: Ssa, c: Ssa) -> Ssa {
        self.pure(a.ty, &[a, b, c], format!("math.fma {a}, {b}, {c} : {}", a.ty))
    }

    /// `op a : T to U`; `a` itself if it has the type.
    pub(crate) fn cast(&mut self, op: &str, a: Ssa, ty: Ty) -> Ssa {
        if a.ty == ty {
            return a;
        }
        self.pure(ty, &[a], format!("{op} {a} : {} to {ty}", a.ty))
    }

    /// An integer comparison.
    pub(crate) fn cmpi(&mut self, predicate: &str, a: Ssa, b: Ssa) -> Ssa {
        self.pure(Ty::I1, &[a, b], format!("arith.cmpi {predicate}, {a}, {b} : {}", a.ty))
    }

    /// A float comparison.
    pub(crate) fn cmpf(&mut self, predicate: &str, a: Ssa, b: Ssa) -> Ssa {
        self.pure(Ty::I1, &[a, b], format!("arith.cmpf {predicate}, {a}, {b} : {}", a.ty))
    }

    /// `condition ? a : b`.
    pub(crate) fn select(&mut self, condition: Ssa, a: Ssa, b: Ssa) -> Ssa {
        if a == b {
            return a;
        }
        self.pure(a.ty, &[condition, a, b], format!("arith.select {condition}, {a}, {b} : {}", a.ty))
    }

    /// The address of element `offset` of an array of `ty`.
    pub(crate) fn address(&mut self, base: Ssa, offset: Ssa, ty: Ty) -> Ssa {
        let text =
            format!("llvm.getelementptr inbounds {base}[{offset}] : (!llvm.ptr, i64) -> !llvm.ptr, {ty}");
        self.pure(Ty::Ptr, &[base, offset], text)
    }

    /// Reads memory that nothing writes to while the function runs.
    pub(crate) fn load_constant(&mut self, address: Ssa, ty: Ty) -> Ssa {
        self.pure(ty, &[address], format!("llvm.load {address} : !llvm.ptr -> {ty}"))
    }

    /// Reads memory that the function also writes, here and now.
    pub(crate) fn load(&mut self, address: Ssa, ty: Ty) -> Ssa {
        let result = self.fresh(ty, self.level());
        self.here(&format!("{result} = llvm.load {address} : !llvm.ptr -> {ty}"));
        result
    }

    /// Writes memory, here and now.
    pub(crate) fn store(&mut self, value: Ssa, address: Ssa) {
        self.here(&format!("llvm.store {value}, {address} : {}, !llvm.ptr", value.ty));
    }

    /// An array on the stack; call it outside all loops.
    pub(crate) fn array(&mut self, count: i64, ty: Ty) -> Ssa {
        let count = self.int(Ty::I64, count);
        let result = self.fresh(Ty::Ptr, 0);
        let text =
            format!("{result} = llvm.alloca {count} x {ty} {{alignment = 64 : i64}} : (i64) -> !llvm.ptr\n");
        self.levels[0].text.push_str(&text);
        result
    }

    /// Opens `for variable in from..to step step` and returns the variable.
    pub(crate) fn open_loop(&mut self, from: Ssa, to: Ssa, step: i64) -> Ssa {
        let step = self.int(Ty::I64, step);
        let variable = self.fresh(Ty::I64, self.level() + 1);
        let header = format!("scf.for {variable} = {from} to {to} step {step} : i64 {{\n");
        self.levels.push(Level { header, ..Level::default() });
        variable
    }

    /// Closes the innermost loop.
    pub(crate) fn close_loop(&mut self) {
        if self.levels.len() > 1
            && let Some(inner) = self.levels.pop()
            && let Some(outer) = self.levels.last_mut()
        {
            outer.text.extend([inner.header.as_str(), inner.text.as_str(), "}\n"]);
        }
    }

    /// The text of the finished function body.
    pub(crate) fn finish(mut self) -> String {
        while self.levels.len() > 1 {
            self.close_loop();
        }
        self.levels.pop().map(|level| level.text).unwrap_or_default()
    }
}
