//! The input of a convolution as a matrix: one row per output position, one
//! column per term of its sum, gathered piece by piece.
#![allow(unsafe_code)]

use crate::block_product::Shared;
use crate::element::Narrow;
use crate::program::{ConvSpatial, ConvolutionStep};

/// Where no input is: the padding, and between dilated elements.
const OUTSIDE: isize = isize::MIN;

/// What a dimension of the rows or columns stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// The batch in rows, input features in columns: distance in the input.
    Plain(isize),
    /// Spatial dimension: output positions in rows, kernel positions in columns.
    Spatial(usize),
}

/// A dimension of the rows or columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dim {
    pub(crate) size: usize,
    /// Distance in the result for rows, in the kernel for columns.
    pub(crate) stride: isize,
    pub(crate) role: Role,
}

/// Distances in the input for each output and kernel position of one dimension.
struct Table {
    kernel: usize,
    distances: Vec<isize>,
}

impl Table {
    fn of(dim: &ConvSpatial) -> Self {
        let distance = |output: u64, position: u64| {
            let tap = if dim.reversed { dim.kernel - 1 - position } else { position };
            let at = (output * dim.step + tap * dim.kernel_dilation) as i64 - dim.pad_low;
            let dilation = dim.input_dilation as i64;
            let inside = at >= 0 && at % dilation == 0 && at / dilation < dim.input as i64;
            if inside { (at / dilation * dim.lhs) as isize } else { OUTSIDE }
        };
        let distances =
            (0..dim.output).flat_map(|o| (0..dim.kernel).map(move |t| (o, t))).map(|(o, t)| distance(o, t));
        Self { kernel: dim.kernel as usize, distances: distances.collect() }
    }

    fn get(&self, output: usize, position: usize) -> isize {
        self.distances[output * self.kernel + position]
    }
}

/// The matrix of one convolution.
pub(crate) struct Patches {
    /// Dimensions of the rows, in order of the result's memory.
    pub(crate) rows: Vec<Dim>,
    /// Dimensions of the columns, in order of the kernel's memory.
    pub(crate) columns: Vec<Dim>,
    tables: Vec<Table>,
    /// Rows run fastest in a gathered piece, else columns do.
    pub(crate) rows_inside: bool,
}

impl Patches {
    /// The rows and columns of a step.
    pub(crate) fn of(step: &ConvolutionStep) -> Self {
        let mut rows = vec![Dim {
            size: step.batch.size as usize,
            stride: step.batch.out as isize,
            role: Role::Plain(step.batch.lhs as isize),
        }];
        let mut columns = vec![Dim {
            size: step.features.size as usize,
            stride: step.features.rhs as isize,
            role: Role::Plain(step.features.lhs as isize),
        }];
        for (index, dim) in step.spatial.iter().enumerate() {
            let role = Role::Spatial(index);
            rows.push(Dim { size: dim.output as usize, stride: dim.out as isize, role });
            columns.push(Dim { size: dim.kernel as usize, stride: dim.rhs as isize, role });
        }
        for dims in [&mut rows, &mut columns] {
            dims.retain(|dim| dim.size != 1 || dim.role != Role::Plain(0));
            dims.sort_by_key(|dim| std::cmp::Reverse(dim.stride));
        }
        let tables = step.spatial.iter().map(Table::of).collect();
        let run = |dims: &[Dim]| match dims.last() {
            Some(Dim { size, role: Role::Plain(1), .. }) => (2, *size),
            Some(Dim { size, role: Role::Spatial(index), .. }) => {
                (usize::from(step.spatial[*index].lhs == 1), *size)
            }
            Some(Dim { size, .. }) => (0, *size),
            None => (0, 0),
        };
        let rows_inside = run(&rows) > run(&columns);
        Self { rows, columns, tables, rows_inside }
    }

    /// Gathers a piece, the rows from `rows.0` up to `rows.1` and the columns
    /// likewise, densely into `piece`. `batch` and `feature` dimensions that
    /// rows and columns lack have one element.
    ///
    /// # Safety
    /// All of the input is in memory from `input` on.
    pub(crate) unsafe fn gather<A: Narrow>(
        &self,
        input: Shared<A>,
        rows: (usize, usize),
        columns: (usize, usize),
        piece: &mut [f32],
    ) {
        let (major, minor, major_dims, minor_dims) = if self.rows_inside {
            (columns, rows, &self.columns, &self.rows)
        } else {
            (rows, columns, &self.rows, &self.columns)
        };
        let width = minor.1 - minor.0;
        let mut at_major = vec![0; self.tables.len()];
        let mut at_minor = vec![0; self.tables.len()];
        for (line, index) in piece.chunks_exact_mut(width.max(1)).zip(major.0..major.1) {
            let base = position(major_dims, index, &mut at_major);
            let mut next = minor.0;
            while next < minor.1 {
                let inner = minor_dims.last().map_or(1, |dim| dim.size);
                let run = (inner - next % inner).min(minor.1 - next);
                let base = base + position(minor_dims, next, &mut at_minor);
                let target = &mut line[next - minor.0..][..run];
                // SAFETY: the caller's promise.
                unsafe {
                    self.gather_run(input, base, (&at_major, &mut at_minor), minor_dims.last(), target)
                };
                next += run;
            }
        }
    }

    /// Gathers along the innermost dimension `inner` of the minor side.
    unsafe fn gather_run<A: Narrow>(
        &self,
        input: Shared<A>,
        base: isize,
        (at_major, at_minor): (&[usize], &mut Vec<usize>),
        inner: Option<&Dim>,
        target: &mut [f32],
    ) {
        let runs_along = match inner.map(|dim| dim.role) {
            Some(Role::Spatial(index)) => Some(index),
            _ => None,
        };
        let mut base = base;
        for (index, table) in self.tables.iter().enumerate() {
            if Some(index) == runs_along {
                continue;
            }
            let distance = self.distance(table, at_major[index], at_minor[index]);
            if distance == OUTSIDE {
                target.fill(0.0);
                return;
            }
            base += distance;
        }
        // SAFETY, for all reads below: distances of the table are within the input.
        match (runs_along, inner.map(|dim| dim.role)) {
            (Some(index), _) => {
                let (table, fixed, first) = (&self.tables[index], at_major[index], at_minor[index]);
                for (at, target) in target.iter_mut().enumerate() {
                    let distance = self.distance(table, fixed, first + at);
                    *target = match distance {
                        OUTSIDE => 0.0,
                        distance => unsafe { (*input.at(base + distance)).load() },
                    };
                }
            }
            (None, Some(Role::Plain(1))) => {
                let source = unsafe { std::slice::from_raw_parts(input.at(base), target.len()) };
                for (target, value) in target.iter_mut().zip(source) {
                    *target = value.load();
                }
            }
            (None, role) => {
                let stride = match role {
                    Some(Role::Plain(stride)) => stride,
                    _ => 0,
                };
                for (at, target) in target.iter_mut().enumerate() {
                    *target = unsafe { (*input.at(base + at as isize * stride)).load() };
                }
            }
        }
    }

    /// A table's distance, whichever side is the major one.
    fn distance(&self, table: &Table, major: usize, minor: usize) -> isize {
        if self.rows_inside { table.get(minor, major) } else { table.get(major, minor) }
    }
}

/// Positions along the spatial dimensions of the `index`th row or column, and
/// the distance in the input along the others.
fn position(dims: &[Dim], index: usize, spatial: &mut [usize]) -> isize {
    let mut rest = index;
    let mut distance = 0;
    for dim in dims.iter().rev() {
        let at = rest % dim.size;
        rest /= dim.size;
        match dim.role {
            Role::Plain(stride) => distance += at as isize * stride,
            Role::Spatial(index) => spatial[index] = at,
        }
    }
    distance
}

/// How many elements dimensions have, and, of the innermost ones that lie one
/// after the other, how many and at which distance.
pub(crate) fn collapse(dims: &[Dim]) -> (usize, usize, isize) {
    let total = dims.iter().map(|dim| dim.size).product();
    let mut inner = 1;
    let mut stride = None;
    for dim in dims.iter().rev().filter(|dim| dim.size != 1) {
        match stride {
            None => stride = Some(dim.stride),
            Some(stride) if dim.stride == stride * inner as isize => {}
            Some(_) => break,
        }
        inner *= dim.size;
    }
    (total, inner, stride.unwrap_or(1))
}

/// Distance of the `index`th element in the result or kernel.
pub(crate) fn distance(dims: &[Dim], index: usize) -> isize {
    let mut rest = index;
    let mut sum = 0;
    for dim in dims.iter().rev() {
        sum += (rest % dim.size) as isize * dim.stride;
        rest /= dim.size;
    }
    sum
}
