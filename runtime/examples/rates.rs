//! Rates of matrix products and convolutions, in the shapes of the bench models:
//! `cargo run --release -p ckpt-runtime --example rates [THREADS]`.
#![allow(clippy::print_stdout)]

use ckpt_entity::EntityId as _;
use ckpt_runtime::{
    Buffer, BufferId, ConvAxis, ConvSpatial, ConvolutionStep, Element, Instance, MatMulStep, Options,
    OuterLoop, OuterSum, Program, Step, StridedOperand, Work,
};
use std::time::Instant;

/// Runs per shape; the fastest counts.
const RUNS: usize = 7;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let threads = std::env::args().nth(1).map_or(Ok(0), |text| text.parse())?;
    for (name, element, sizes, work) in products().into_iter().chain(convolutions()) {
        let flops = 2.0 * sizes.flops as f64;
        let seconds = time(element, sizes.elements, work, threads)?;
        println!("{name:44} {:8.2} ms {:7.1} GFLOP/s", seconds * 1e3, flops / seconds / 1e9);
    }
    Ok(())
}

/// Elements of both operands and the result, and multiplications.
struct Sizes {
    elements: [u64; 3],
    flops: u64,
}

type Case = (String, Element, Sizes, Work);

fn id(index: usize) -> BufferId {
    BufferId::from_index(index)
}

/// `[batch, m, k] · [batch, k, n]`; with `t` in `layout`, that operand lies transposed.
fn product(element: Element, [batch, m, n, k]: [i64; 4], layout: &str) -> Case {
    let axis = |size: i64, lhs, rhs, out| OuterLoop { size: size as u64, lhs, rhs, out };
    let dense = |index| StridedOperand { buffer: id(index), offset: 0 };
    let (lhs_t, rhs_t) = (layout.starts_with('t'), layout.ends_with('t'));
    let (lhs_m, lhs_k) = if lhs_t { (1, m) } else { (k, 1) };
    let (rhs_k, rhs_n) = if rhs_t { (1, k) } else { (n, 1) };
    let step = MatMulStep {
        element,
        result: element,
        lhs: dense(0),
        rhs: dense(1),
        out: dense(2),
        loops: vec![axis(batch, m * k, k * n, m * n)],
        m: axis(m, lhs_m, 0, n),
        n: axis(n, 0, rhs_n, 1),
        sums: vec![OuterSum { size: k as u64, lhs: lhs_k, rhs: rhs_k }],
    };
    let elements = [batch * m * k, batch * k * n, batch * m * n].map(|size| size as u64);
    let sizes = Sizes { elements, flops: (batch * m * n * k) as u64 };
    (format!("{element:?} {batch} x {m} x {n} x {k} {layout}"), element, sizes, Work::MatMul(step))
}

fn products() -> Vec<Case> {
    let (f, b) = (Element::F32, Element::Bf16);
    vec![
        product(f, [1, 1024, 2048, 512], "nn"),
        product(f, [1, 1024, 512, 2048], "nn"),
        product(f, [1, 1024, 512, 2048], "nt"),
        product(f, [1, 512, 2048, 1024], "tn"),
        product(b, [1, 2048, 768, 256], "nn"),
        product(b, [1, 2048, 1024, 256], "nt"),
        product(b, [1, 2048, 256, 1024], "nn"),
        product(b, [1, 768, 256, 2048], "tn"),
        product(b, [1, 2048, 2048, 256], "nn"),
        product(b, [32, 256, 256, 64], "nn"),
        product(b, [32, 256, 64, 256], "nt"),
        product(b, [32, 64, 256, 256], "tn"),
        product(f, [1, 32, 1024, 512], "nn"),
        product(f, [1, 1024, 512, 32], "tn"),
        product(f, [1, 32, 512, 1024], "nt"),
        product(f, [1, 1, 1024, 1024], "nn"),
    ]
}

/// 3 × 3 windows over NHWC images: forward, and the gradient of the filter.
fn convolutions() -> Vec<Case> {
    let mut cases = Vec::new();
    for (size, channels) in [(32i64, 64i64), (16, 128), (8, 256), (4, 512)] {
        cases.push(forward(size, channels));
        cases.push(filter_gradient(size, channels));
    }
    cases
}

/// Images per batch.
const IMAGES: i64 = 32;

fn window(size: i64) -> ConvSpatial {
    let (input, kernel, output) = (size as u64, 3, size as u64);
    let unit =
        ConvSpatial { step: 1, pad_low: 1, input_dilation: 1, kernel_dilation: 1, ..ConvSpatial::default() };
    ConvSpatial { input, kernel, output, ..unit }
}

fn axis(size: i64, lhs: i64, rhs: i64, out: i64) -> ConvAxis {
    ConvAxis { size: size as u64, lhs, rhs, out }
}

fn convolution(name: &str, size: i64, channels: i64, step: ConvolutionStep) -> Case {
    let image = (IMAGES * size * size * channels) as u64;
    let filter = (9 * channels * channels) as u64;
    let elements = if name == "forward" { [image, filter, image] } else { [image, image, filter] };
    let sizes = Sizes { elements, flops: image * 9 * channels as u64 };
    (format!("{name} {size} x {size} x {channels}"), Element::F32, sizes, Work::Convolution(step))
}

fn forward(size: i64, c: i64) -> Case {
    let row = size * c;
    let step = ConvolutionStep {
        element: Element::F32,
        result: Element::F32,
        lhs: id(0),
        rhs: id(1),
        out: id(2),
        groups: axis(1, 0, 0, 0),
        batch: axis(IMAGES, size * row, 0, size * row),
        features: OuterSum { size: c as u64, lhs: 1, rhs: c },
        outputs: axis(c, 0, 1, 1),
        spatial: vec![
            ConvSpatial { lhs: row, rhs: 3 * c * c, out: row, ..window(size) },
            ConvSpatial { lhs: c, rhs: c * c, out: c, ..window(size) },
        ],
    };
    convolution("forward", size, c, step)
}

fn filter_gradient(size: i64, c: i64) -> Case {
    let row = size * c;
    let as_kernel = |size| ConvSpatial { kernel: size as u64, output: 3, ..window(size) };
    let step = ConvolutionStep {
        element: Element::F32,
        result: Element::F32,
        lhs: id(0),
        rhs: id(1),
        out: id(2),
        groups: axis(1, 0, 0, 0),
        batch: axis(c, 1, 0, c),
        features: OuterSum { size: IMAGES as u64, lhs: size * row, rhs: size * row },
        outputs: axis(c, 0, 1, 1),
        spatial: vec![
            ConvSpatial { lhs: row, rhs: row, out: 3 * c * c, ..as_kernel(size) },
            ConvSpatial { lhs: c, rhs: c, out: c * c, ..as_kernel(size) },
        ],
    };
    convolution("filter gradient", size, c, step)
}

fn time(
    element: Element,
    elements: [u64; 3],
    work: Work,
    threads: usize,
) -> Result<f64, Box<dyn std::error::Error>> {
    let mut program = Program::default();
    for count in elements {
        let bytes = count * element.bytes();
        program.buffers.push(Buffer { offset: program.arena_bytes, bytes });
        program.arena_bytes += bytes.next_multiple_of(64);
    }
    program.blocks = vec![vec![Step { name: "step".into(), kind: String::new(), place: None, work }]];
    let mut instance = Instance::new(program, Options { threads, profile: false })?;
    let mut best = f64::INFINITY;
    for _ in 0..RUNS {
        let start = Instant::now();
        instance.run()?;
        best = best.min(start.elapsed().as_secs_f64());
    }
    Ok(best)
}
