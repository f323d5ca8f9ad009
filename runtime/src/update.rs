//! Updates of a part of a tensor, in place.

use crate::arena::Arena;
use crate::program::{BufferId, Program, UpdateStep};

/// Writes the part row by row. Linear in the part.
pub(crate) fn run(program: &Program, arena: &mut Arena, step: &UpdateStep) {
    let starts: Vec<u64> = step
        .starts
        .iter()
        .zip(step.shape.iter().zip(&step.slice))
        .map(|(start, (whole, part))| position(program, arena, *start, step.signed).min(whole - part))
        .collect();
    let (target, update) = (program.buffer(step.target), program.buffer(step.update));
    if update.bytes == 0 {
        return;
    }
    // Innermost dimensions that the part fills lie in a row with the one outside them.
    let whole = |at: &usize| step.slice[*at] == step.shape[*at];
    let filled = (0..step.shape.len()).rev().take_while(whole).count();
    let outer = step.shape.len().saturating_sub(filled + 1);
    let row: u64 = step.slice[outer..].iter().product::<u64>() * step.element_bytes;
    let width: u64 = step.shape[outer..].iter().product::<u64>() * step.element_bytes;
    let inner: u64 = step.shape.get(outer + 1..).unwrap_or(&[]).iter().product::<u64>() * step.element_bytes;
    let shift = starts.get(outer).map_or(0, |start| start * inner);
    for line in 0..update.bytes / row {
        let (mut rest, mut index, mut stride) = (line, 0, 1);
        for at in (0..outer).rev() {
            index += (starts[at] + rest % step.slice[at]) * stride;
            rest /= step.slice[at];
            stride *= step.shape[at];
        }
        let part =
            |buffer: crate::Buffer, offset| crate::Buffer { offset: buffer.offset + offset, bytes: row };
        let source = arena.bytes(part(update, line * row)).as_ptr();
        // SAFETY: validation has checked that the part is disjoint from the tensor.
        #[allow(unsafe_code)]
        let source = unsafe { std::slice::from_raw_parts(source, row as usize) };
        arena.bytes_mut(part(target, index * width + shift)).copy_from_slice(source);
    }
}

/// An integer in memory; what is negative counts as zero.
fn position(program: &Program, arena: &Arena, buffer: BufferId, signed: bool) -> u64 {
    let bytes = arena.bytes(program.buffer(buffer));
    let negative = signed && bytes.last().is_some_and(|byte| byte & 0x80 != 0);
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    if negative { 0 } else { u64::from_le_bytes(word) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Buffer;
    use crate::arena::Counter;
    use ckpt_entity::EntityId as _;

    #[test]
    fn a_part_is_moved_so_that_it_fits() {
        let sizes = [24u64, 4, 4, 4, 4];
        let mut offset = 0;
        let mut place = |bytes| {
            offset += bytes;
            Buffer { offset: offset - bytes, bytes }
        };
        let buffers = sizes.map(&mut place).to_vec();
        let program = Program { arena_bytes: 40, buffers, ..Program::default() };
        let mut arena = Arena::new(40, &mut Counter::default()).unwrap();
        arena.bytes_mut(program.buffers[1]).copy_from_slice(&[1, 2, 3, 4]);
        for (at, start) in [(2, -5i32), (3, 1), (4, 9)] {
            arena.bytes_mut(program.buffers[at]).copy_from_slice(&start.to_le_bytes());
        }
        let id = BufferId::from_index;
        let step = UpdateStep {
            target: id(0),
            update: id(1),
            starts: vec![id(2), id(3), id(4)],
            signed: true,
            element_bytes: 1,
            shape: vec![2, 3, 4],
            slice: vec![1, 2, 2],
        };
        run(&program, &mut arena, &step);
        let mut expected = [0u8; 24];
        (expected[6], expected[7], expected[10], expected[11]) = (1, 2, 3, 4);
        assert_eq!(arena.bytes(program.buffers[0]), expected);
    }
}
