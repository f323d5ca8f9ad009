//! The winners of a max-pool behind a ReLU, as bits.
//!
//! The gradient of a max-pool looks at the whole of what was pooled to find
//! each window's winner, and the ReLU's at the same tensor again. Both need one
//! bit per element: whether it won its window and is positive.
//!
//! ```text
//! select(x > 0, select_and_scatter(max(x, 0), g), 0)
//!     => select(unpack(pack(spread(code(max(x, 0))) == place)), spread(0 + g), 0)
//! ```
//!
//! `code` is the winner's place in its window by the same comparisons in the
//! same order, or [`NONE`] unless the winner is positive: with a NaN in the
//! window the winner may be another element than the maximum. `0 + g` and not
//! `g`, since the scatter adds to zero and `-0` becomes `+0`.

use super::maker::Maker;
use super::packed_predicate::packed_and_back;
use super::{find_node, is_positive_zero};
use crate::egraph::language::{Signature, TensorGraph, TensorNode};
use ckpt_ir::{Attr, ElementType, Module, OpId, OpKind, TensorType};
use egg::Id;

/// The code of a window without a positive winner.
const NONE: u8 = 255;

/// Elements of a window, so that the comparisons fit a kernel beside others.
const MAX_WINDOW: u64 = 16;

const BYTE: ElementType = ElementType::Uint(8);

pub(super) fn apply(module: &Module, graph: &mut TensorGraph, _: Id, node: &TensorNode) -> Option<Id> {
    let &[mask, routed, zeros] = &node.operands[..] else { return None };
    let routed = strip(graph, routed, OpKind::Slice);
    let scatter = find_node(graph, routed, OpKind::SelectAndScatter)?;
    let Signature::Region { value, .. } = *graph.analysis.signature(scatter.signature) else { return None };
    let &[pooled, gradient, initial] = &scatter.operands[..] else { return None };
    let pooled = strip(graph, pooled, OpKind::Pad);
    let pool = Pool::of(module, module.defining_op(value)?)?;
    let masked = is_mask_of(graph, mask, pooled)?;
    let tensor = graph.analysis.tensor(graph[pooled].data.ty)?;
    let same = tensor.static_shape().as_ref() == Some(&pool.shape);
    let holds = masked && same && is_positive_zero(graph, zeros) && is_positive_zero(graph, initial);
    if !holds {
        return None;
    }
    let mut build = Code { make: Maker { graph }, pool: &pool };
    let code = build.code(pooled);
    let hit = build.hit(code);
    build.route(hit, gradient)
}

/// The class under operations of a kind that change nothing: their operand has
/// the same type, and a slice or a padding of the same shape takes all.
fn strip(graph: &TensorGraph, class: Id, kind: OpKind) -> Id {
    let Some(node) = find_node(graph, class, kind) else { return class };
    let operand = node.operands[0];
    let all_zero = |name: &str| match graph.analysis.attr(node.signature, name) {
        Some(Attr::DenseIntArray { values, .. }) => values.iter().all(|value| *value == 0),
        _ => false,
    };
    let whole = kind == OpKind::Slice
        || ["edge_padding_low", "edge_padding_high", "interior_padding"].into_iter().all(all_zero);
    if whole && graph[operand].data.ty == graph[class].data.ty { operand } else { class }
}

/// Whether `mask` is `x > 0` or `y > 0` where `y` is `max(x, 0)`.
fn is_mask_of(graph: &TensorGraph, mask: Id, y: Id) -> Option<bool> {
    let compare = find_node(graph, mask, OpKind::Compare)?;
    let name = |attr: &str| match graph.analysis.attr(compare.signature, attr) {
        Some(Attr::Enum(_, value)) => graph.analysis.names.get(*value),
        _ => "",
    };
    let maximum = find_node(graph, y, OpKind::Maximum)?;
    let &[a, b] = &maximum.operands[..] else { return None };
    let x = if is_positive_zero(graph, b) {
        a
    } else if is_positive_zero(graph, a) {
        b
    } else {
        return None;
    };
    let of = graph.find(compare.operands[0]);
    let greater = name("comparison_direction") == "GT" && name("compare_type") != "TOTALORDER";
    Some(
        greater
            && is_positive_zero(graph, compare.operands[1])
            && [graph.find(x), graph.find(y)].contains(&of),
    )
}

/// A pooling whose windows tile the tensor.
struct Pool {
    shape: Vec<u64>,
    window: Vec<u64>,
    element: ElementType,
}

impl Pool {
    fn of(module: &Module, op: OpId) -> Option<Self> {
        let result: &TensorType = module.tensor_type(module.op(op).results[0])?;
        let (shape, element) = (result.static_shape()?, result.element);
        let sizes = |name| match module.attr(op, name) {
            Some(Attr::DenseIntArray { values, .. }) => {
                values.iter().map(|v| u64::try_from(*v).ok()).collect::<Option<Vec<u64>>>()
            }
            _ => None,
        };
        let window = sizes("window_dimensions")?;
        let unpadded = match module.attr(op, "padding") {
            None => true,
            Some(Attr::Dense(dense)) => dense.bytes.iter().all(|byte| *byte == 0),
            Some(_) => false,
        };
        let tiles = shape.len() == window.len()
            && shape.iter().zip(&window).all(|(size, window)| *window > 0 && size % window == 0);
        let places: u64 = window.iter().product();
        let fits = sizes("window_strides")? == window && places > 1 && places <= MAX_WINDOW;
        let packs = shape.iter().product::<u64>() % 8 == 0;
        let regular = unpadded
            && tiles
            && fits
            && packs
            && element.is_float()
            && body_is(module, op, 0, OpKind::Compare)
            && body_is(module, op, 1, OpKind::Add);
        regular.then_some(Self { shape, window, element })
    }

    /// The shape of the pooled result.
    fn windows(&self) -> Vec<u64> {
        self.shape.iter().zip(&self.window).map(|(size, window)| size / window).collect()
    }

    /// The shape with each pooled dimension split in windows and places, and
    /// where in it the windows' and the places' dimensions are.
    fn split(&self) -> (Vec<u64>, Vec<i64>, Vec<(usize, u64)>) {
        let (mut shape, mut windows, mut places) = (Vec::new(), Vec::new(), Vec::new());
        for (size, window) in self.shape.iter().zip(&self.window) {
            windows.push(shape.len() as i64);
            shape.push(size / window);
            if *window > 1 {
                places.push((shape.len(), *window));
                shape.push(*window);
            }
        }
        (shape, windows, places)
    }

    /// The coordinates of a place in its window, row-major.
    fn coordinates(&self, place: u64) -> Vec<i64> {
        let mut rest = place;
        let mut coordinates: Vec<i64> = self
            .window
            .iter()
            .rev()
            .map(|window| {
                let coordinate = (rest % window) as i64;
                rest /= window;
                coordinate
            })
            .collect();
        coordinates.reverse();
        coordinates
    }
}

/// Whether a region is `(a, b) -> kind(a, b)`; a comparison must be `GE`.
fn body_is(module: &Module, op: OpId, region: usize, kind: OpKind) -> bool {
    let body = module.op(op).regions.get(region).and_then(|r| module.region(*r).blocks.first());
    let Some(block) = body.map(|b| module.block(*b)) else { return false };
    let &[inner, end] = &block.ops[..] else { return false };
    let is = |name, wanted: &str| match module.attr(inner, name) {
        Some(Attr::Enum(_, value)) => module.names.get(*value) == wanted,
        _ => false,
    };
    let compares = is("comparison_direction", "GE") && !is("compare_type", "TOTALORDER");
    module.op(inner).kind == kind
        && module.op(inner).operands[..] == block.arguments[..]
        && module.op(end).operands[..] == module.op(inner).results[..]
        && (kind != OpKind::Compare || compares)
}

/// Makes the right-hand side.
struct Code<'g, 'p> {
    make: Maker<'g>,
    pool: &'p Pool,
}

impl Code<'_, '_> {
    fn byte(&mut self, value: u8, shape: &[u64]) -> Id {
        let scalar = self.make.scalar(BYTE, &[value]);
        self.make.fill(scalar, shape, BYTE)
    }

    fn zeros(&mut self, shape: &[u64]) -> Id {
        let zero = self.make.zero(self.pool.element);
        self.make.fill(zero, shape, self.pool.element)
    }

    /// The code of each window of `y`.
    fn code(&mut self, y: Id) -> Id {
        let (shape, element) = (self.pool.windows(), self.pool.element);
        let strides: Vec<i64> = self.pool.window.iter().map(|w| *w as i64).collect();
        let limits: Vec<i64> = self.pool.shape.iter().map(|s| *s as i64).collect();
        let places: u64 = self.pool.window.iter().product();
        let mut best: Option<(Id, Id)> = None;
        for place in 0..places {
            let starts = self.pool.coordinates(place);
            let element_here = self.make.slice(y, &starts, &limits, &strides, &shape, element);
            let code = self.byte(place as u8, &shape);
            best = Some(match best {
                None => (element_here, code),
                Some((value, winner)) => {
                    let keeps = self.make.compare("GE", "FLOAT", value, element_here, &shape);
                    let value =
                        self.make.elementwise(OpKind::Select, &shape, element, &[keeps, value, element_here]);
                    (value, self.make.elementwise(OpKind::Select, &shape, BYTE, &[keeps, winner, code]))
                }
            });
        }
        let (none, zeros) = (self.byte(NONE, &shape), self.zeros(&shape));
        let Some((value, winner)) = best else { return none };
        let positive = self.make.compare("GT", "FLOAT", value, zeros, &shape);
        self.make.elementwise(OpKind::Select, &shape, BYTE, &[positive, winner, none])
    }

    /// Whether each element is its window's winner, kept as bits.
    fn hit(&mut self, code: Id) -> Id {
        let (shape, windows, places) = self.pool.split();
        let spread = self.make.broadcast(code, &windows, &shape, BYTE);
        let mut place: Option<Id> = None;
        for (axis, window) in places {
            let coordinate = self.make.iota(&shape, BYTE, axis);
            place = Some(match place {
                None => coordinate,
                Some(outer) => {
                    let stride = self.byte(window as u8, &shape);
                    let row = self.make.elementwise(OpKind::Multiply, &shape, BYTE, &[outer, stride]);
                    self.make.elementwise(OpKind::Add, &shape, BYTE, &[row, coordinate])
                }
            });
        }
        let place = place.unwrap_or(spread);
        let hit = self.make.equal(spread, place, &shape, BYTE);
        packed_and_back(&mut self.make, hit, &shape)
    }

    /// The gradient to each winner, `+0` elsewhere.
    fn route(&mut self, hit: Id, gradient: Id) -> Option<Id> {
        let (shape, windows, _) = self.pool.split();
        let (rows, element) = (self.pool.windows(), self.pool.element);
        let row_zeros = self.zeros(&rows);
        let sum = self.make.elementwise(OpKind::Add, &rows, element, &[row_zeros, gradient]);
        let spread = self.make.broadcast(sum, &windows, &shape, element);
        let zeros = self.zeros(&shape);
        let routed = self.make.elementwise(OpKind::Select, &shape, element, &[hit, spread, zeros]);
        Some(self.make.elementwise(OpKind::Reshape, &self.pool.shape, element, &[routed]))
    }
}
