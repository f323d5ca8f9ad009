//! Copies that happen at once.

use crate::arena::Arena;
use crate::program::{Buffer, BufferId, CopyStep, Program};

/// Bytes moved at a time where values trade places: a page, on the stack.
const CHUNK: usize = 4096;

/// Copies each source to its target as if all were read first. Quadratic in
/// the number of pairs.
pub(crate) fn run(program: &Program, arena: &mut Arena, step: &CopyStep) {
    let place = |id: BufferId| program.buffer(id);
    let mut left: Vec<(Buffer, Buffer)> =
        step.pairs.iter().map(|(from, to)| (place(*from), place(*to))).filter(|(a, b)| a != b).collect();
    while !left.is_empty() {
        let free = (0..left.len()).find(|at| {
            let target = left[*at].1;
            left.iter().enumerate().all(|(other, (source, _))| other == *at || !overlap(*source, target))
        });
        match free {
            Some(at) => {
                let (from, to) = left.swap_remove(at);
                copy(arena, from, to);
            }
            None => rotate(arena, &mut left),
        }
    }
}

fn overlap(a: Buffer, b: Buffer) -> bool {
    a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes
}

fn copy(arena: &mut Arena, from: Buffer, to: Buffer) {
    let bytes = from.bytes.min(to.bytes) as usize;
    let pointer = arena.pointer(from);
    // SAFETY: validation has checked that the two are disjoint and in the arena.
    #[allow(unsafe_code)]
    let source = unsafe { std::slice::from_raw_parts(pointer, bytes) };
    arena.bytes_mut(to)[..bytes].copy_from_slice(source);
}

/// Does one cycle of copies, in which every target is another's source: its
/// bytes move on together, chunk by chunk.
fn rotate(arena: &mut Arena, left: &mut Vec<(Buffer, Buffer)>) {
    let Some(first) = left.pop() else { return };
    let mut cycle = vec![first];
    while let Some(&(from, _)) = cycle.last() {
        let Some(at) = left.iter().position(|(_, to)| *to == from) else { break };
        cycle.push(left.swap_remove(at));
    }
    let bytes = cycle.iter().map(|(from, _)| from.bytes).min().unwrap_or(0) as usize;
    let mut chunk = [0; CHUNK];
    for start in (0..bytes).step_by(CHUNK) {
        let end = (start + CHUNK).min(bytes);
        let part =
            |buffer: Buffer| Buffer { offset: buffer.offset + start as u64, bytes: (end - start) as u64 };
        // The first target is overwritten first; what it held goes to the pair that reads it.
        chunk[..end - start].copy_from_slice(arena.bytes(part(first.1)));
        for (at, &(from, to)) in cycle.iter().enumerate() {
            if at + 1 == cycle.len() {
                arena.bytes_mut(part(to)).copy_from_slice(&chunk[..end - start]);
            } else {
                copy(arena, part(from), part(to));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::Counter;
    use ckpt_entity::EntityId as _;

    #[test]
    fn values_trade_places() {
        const SIZE: u64 = 10_000;
        let buffers = (0..4).map(|i| Buffer { offset: i * SIZE, bytes: SIZE }).collect();
        let program = Program { arena_bytes: 4 * SIZE, buffers, ..Program::default() };
        let mut arena = Arena::new(4 * SIZE, &mut Counter::default()).unwrap();
        for index in 0..4 {
            arena.bytes_mut(program.buffers[index]).fill(index as u8);
        }
        // 0 → 1 → 2 → 0 is a cycle, 3 takes what 1 held.
        let pairs = [(0, 1), (1, 2), (2, 0), (1, 3)]
            .map(|(from, to)| (BufferId::from_index(from), BufferId::from_index(to)));
        run(&program, &mut arena, &CopyStep { pairs: pairs.to_vec() });
        for (index, expected) in [2, 0, 1, 1].into_iter().enumerate() {
            assert!(arena.bytes(program.buffers[index]).iter().all(|b| *b == expected), "{index}");
        }
    }
}
