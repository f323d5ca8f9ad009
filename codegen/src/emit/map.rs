//! Kernels that compute each element of their outputs by itself.

use super::attrs::shape_of;
use super::kernel::{Draft, Outputs};
use super::nest::{Nest, RowPart};
use super::{Emitted, NoPath, Ty, cone::Cone};
use crate::index::Affine;

/// Rows of a tile: a cache line of `f32` along the rows.
const TILE_ROWS: i64 = 16;

/// Loops over the elements of outputs of one size.
pub(super) fn map(cone: &mut Cone<'_>, outputs: &Outputs, nest: &Nest) -> Emitted<Draft> {
    let rows = nest.rows;
    if let Some(columns) = nest.tile_columns {
        tiles(cone, outputs, nest, columns)?;
        return Ok(Draft { extent: rows.extent(), better: None });
    }
    let part = rows.open(cone, outputs.range);
    let mut better = None;
    let ends = nest.cuts.iter().copied().chain([rows.row]);
    for (start, end) in [0].into_iter().chain(nest.cuts.iter().copied()).zip(ends) {
        let (mut from, mut to) = part.columns;
        if !nest.cuts.is_empty() {
            let (first, past) = (cone.body.int(Ty::I64, start), cone.body.int(Ty::I64, end));
            from = cone.body.binary("arith.maxsi", from, first);
            to = cone.body.binary("arith.minsi", to, past);
        }
        let column = cone.open_loop(from, to, 1, (start, end - 1));
        element(cone, outputs, &part.base.plus(1, &column))?;
        better = nest.refined(cone, &column);
        cone.close_loop();
    }
    close(cone, &part);
    Ok(Draft { extent: rows.extent(), better })
}

fn close(cone: &mut Cone<'_>, part: &RowPart) {
    for _ in 0..part.loops {
        cone.close_loop();
    }
}

/// Tiles of rows and columns, columns innermost.
fn tiles(cone: &mut Cone<'_>, outputs: &Outputs, nest: &Nest, columns: i64) -> Emitted<()> {
    let (begin, end) = outputs.range;
    let (row_count, length) = (nest.rows.total / nest.rows.row, nest.rows.row);
    let zero = cone.body.int(Ty::I64, 0);
    let row_tile = cone.open_loop(begin, end, TILE_ROWS, (0, row_count - 1));
    // Whole tiles have a constant number of columns, which is what vectorises.
    let width = if length % columns == 0 { columns } else { 1 };
    let tiles = cone.body.int(Ty::I64, length / width);
    let column_tile = cone.open_loop(zero, tiles, 1, (0, length / width - 1));
    let (from, to) = (cone.position(&row_tile), cone.position(&row_tile.offset(TILE_ROWS)));
    let to = cone.body.binary("arith.minsi", to, end);
    let row = cone.open_loop(from, to, 1, (0, row_count - 1));
    let columns = cone.body.int(Ty::I64, width);
    let column = cone.open_loop(zero, columns, 1, (0, width - 1));
    let position = row.times(length).plus(width, &column_tile).plus(1, &column);
    element(cone, outputs, &position)?;
    for _ in 0..4 {
        cone.close_loop();
    }
    Ok(())
}

/// Computes and writes the elements at a position: all are read before any is written.
fn element(cone: &mut Cone<'_>, outputs: &Outputs, position: &Affine) -> Emitted<()> {
    let mut elements = Vec::new();
    for &(value, _) in &outputs.values {
        let shape = shape_of(cone.module, value).ok_or(NoPath::Shape)?;
        let index = cone.indices.unflatten(position, &shape);
        elements.push(cone.element(value, &index)?);
    }
    for (&(value, pointer), element) in outputs.values.iter().zip(elements) {
        let ty = cone.element_type(value)?;
        cone.store(ty, pointer, position, element);
    }
    Ok(())
}
