//! Loop nests: rows of a flat index space, and which row length suits the indices.

use super::cone::Cone;
use super::{Ssa, Ty};
use crate::index::{Affine, AtomId, gcd};

/// Rows of at least this number are split among threads whole; fewer are split
/// inside. Eight threads then differ by at most an eighth.
const MIN_ROWS: i64 = 64;

/// Rows shorter than this are not made to get rid of a division.
const MIN_ROW: i64 = 4;

/// Columns that need no tiles: the lines that a row reads across them stay in
/// the first-level cache for the next row.
const FEW_COLUMNS: i64 = 512;

/// Columns of a tile: enough to make up for the index arithmetic of a row.
const TILE_COLUMNS: i64 = 64;

/// Bytes at whose multiples lines fall into one set of the first-level cache
/// (64 sets of 64 bytes), and the columns of a tile then: as many as a set has ways.
const ALIAS: (i64, i64) = (4096, 8);

/// Cuts of a row at most: each makes a copy of the loop's body.
const MAX_CUTS: usize = 6;

/// An index space of `total` points in rows of `row`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rows {
    pub(crate) total: i64,
    pub(crate) row: i64,
}

/// The part of a row that a call computes.
pub(crate) struct RowPart {
    /// The flat index of the row's first point.
    pub(crate) base: Affine,
    /// The first column and the one after the last.
    pub(crate) columns: (Ssa, Ssa),
    /// Loops to close afterwards.
    pub(crate) loops: usize,
}

impl Rows {
    fn splits_rows(self) -> bool {
        self.total / self.row < MIN_ROWS
    }

    /// The extent of the parallel dimension: rows, or points where there are few rows.
    pub(crate) fn extent(self) -> u64 {
        (if self.splits_rows() { self.total } else { self.total / self.row }) as u64
    }

    /// Opens the loop over the rows in a range of the parallel dimension.
    pub(crate) fn open(self, cone: &mut Cone<'_>, (begin, end): (Ssa, Ssa)) -> RowPart {
        if self.row == self.total {
            return RowPart { base: Affine::default(), columns: (begin, end), loops: 0 };
        }
        let last_row = self.total / self.row - 1;
        let (zero, row) = (cone.body.int(Ty::I64, 0), cone.body.int(Ty::I64, self.row));
        if !self.splits_rows() {
            let r = cone.open_loop(begin, end, 1, (0, last_row));
            return RowPart { base: r.times(self.row), columns: (zero, row), loops: 1 };
        }
        let first = cone.body.binary("arith.divui", begin, row);
        let most = cone.body.int(Ty::I64, self.row - 1);
        let past = cone.body.binary("arith.addi", end, most);
        let past = cone.body.binary("arith.divui", past, row);
        let r = cone.open_loop(first, past, 1, (0, last_row));
        let base = r.times(self.row);
        let start = cone.position(&base);
        let from = cone.body.binary("arith.subi", begin, start);
        let from = cone.body.binary("arith.maxsi", from, zero);
        let to = cone.body.binary("arith.subi", end, start);
        let to = cone.body.binary("arith.minsi", to, row);
        RowPart { base, columns: (from, to), loops: 1 }
    }

    /// Shorter rows in which fewer indices of the columns are divided, if the
    /// indices that `cone` has seen want them.
    fn refined(self, cone: &Cone<'_>, column: AtomId) -> Option<Self> {
        let wanted = |(dividend, divisor): (&Affine, i64)| {
            let coefficient = dividend.coefficient(column).abs();
            if coefficient == 0 {
                return None;
            }
            let length = divisor / gcd(coefficient, divisor);
            let common = gcd(length, self.row);
            (common >= MIN_ROW && common < self.row).then_some(common)
        };
        cone.indices.quotients().filter_map(wanted).max().map(|row| Self { row, ..self })
    }
}

/// A loop nest over rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Nest {
    pub(crate) rows: Rows,
    /// Columns at which the loop over a row is cut, so that what is beside an
    /// edge of a pad or a concatenation is decided once per loop.
    pub(crate) cuts: Vec<i64>,
    /// Columns of the tiles in which rows and columns are walked, where buffers
    /// lie along the rows: the lines that a tile reads stay in the cache.
    pub(crate) tile_columns: Option<i64>,
    /// Whether cuts and tiles have been decided.
    settled: bool,
}

impl Nest {
    /// One row.
    pub(crate) fn flat(total: i64) -> Self {
        Self { rows: Rows { total, row: total }, cuts: Vec::new(), tile_columns: None, settled: false }
    }

    /// A better nest for the indices that `cone` has seen, if there is one.
    pub(crate) fn refined(&self, cone: &Cone<'_>, column: &Affine) -> Option<Self> {
        let [(column, 1)] = column.terms[..] else { return None };
        if self.settled {
            return None;
        }
        if let Some(rows) = self.rows.refined(cone, column) {
            return Some(Self { rows, ..self.clone() });
        }
        let mut cuts: Vec<i64> = cone
            .edges
            .iter()
            .filter(|(index, _)| index.terms[..] == [(column, 1)])
            .flat_map(|(index, last)| [-index.constant, last + 1 - index.constant])
            .filter(|cut| (1..self.rows.row).contains(cut))
            .collect();
        cuts.sort_unstable();
        cuts.dedup();
        if cuts.len() > MAX_CUTS {
            cuts.clear();
        }
        let across = |(access, width): &(Affine, i64)| {
            let step = access.coefficient(column).abs();
            let along = access.terms.iter().any(|(atom, step)| *atom != column && step.abs() == 1);
            let aliased = step * width % ALIAS.0 == 0;
            let columns = if aliased { ALIAS.1 } else { TILE_COLUMNS };
            (step > 1 && along && (aliased || self.rows.row > FEW_COLUMNS)).then_some(columns)
        };
        let tile = cone.accesses.iter().filter_map(across).min();
        let tile_columns = tile.filter(|_| !self.rows.splits_rows());
        (tile_columns.is_some() || !cuts.is_empty()).then(|| Self {
            cuts,
            tile_columns,
            settled: true,
            ..self.clone()
        })
    }
}
