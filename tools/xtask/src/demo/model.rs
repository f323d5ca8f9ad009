//! The demo's model: one training step of a residual network as StableHLO text,
//! forward, backward and the update, as a framework would print it.
//!
//! Layer `i`: `h' = h + (tanh(h·W + b))·V`; loss: the mean of squares of the
//! last `h` less the target; update: `w − 0.01·dw`.

use std::fmt::{self, Write as _};

/// Sizes of the network.
pub(super) struct Shape {
    /// Rows of a batch.
    batch: usize,
    /// Columns of `h`.
    width: usize,
    /// Columns inside a layer.
    inner: usize,
    /// Layers.
    layers: usize,
}

impl Default for Shape {
    fn default() -> Self {
        Self { batch: 512, width: 32, inner: 96, layers: 24 }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { batch, width, inner, layers } = self;
        write!(
            f,
            "training step of a residual network, {layers} layers, {width} to {inner} and back, batch {batch}"
        )
    }
}

/// The module's text.
pub(super) fn training_step(shape: &Shape) -> String {
    let mut text = Emitter { shape, body: String::new() };
    text.forward();
    text.backward();
    let arguments: Vec<String> = text.arguments().map(|(name, ty)| format!("{name}: {ty}")).collect();
    let results: Vec<String> = (0..shape.layers)
        .flat_map(|i| [("w", i), ("b", i), ("v", i)])
        .map(|(kind, i)| format!("%new_{kind}{i}"))
        .collect();
    let types: Vec<String> = text.arguments().map(|(_, ty)| ty).take(3 * shape.layers).collect();
    format!(
        "module @residual_step {{\n  func.func public @main({}) -> ({}, tensor<f32>) {{\n{}    return {}, %loss : {}, tensor<f32>\n  }}\n}}\n",
        arguments.join(", "),
        types.join(", "),
        text.body,
        results.join(", "),
        types.join(", "),
    )
}

struct Emitter<'a> {
    shape: &'a Shape,
    body: String,
}

impl Emitter<'_> {
    fn line(&mut self, line: fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.body, "    {line}");
    }

    fn tensor(sizes: &[usize]) -> String {
        let sizes: Vec<String> = sizes.iter().map(|s| format!("{s}x")).collect();
        format!("tensor<{}f32>", sizes.concat())
    }

    /// Types of `h`, of what is inside a layer, of `W`, `b` and `V`.
    fn types(&self) -> [String; 5] {
        let Shape { batch, width, inner, .. } = *self.shape;
        [&[batch, width][..], &[batch, inner], &[width, inner], &[inner], &[inner, width]].map(Self::tensor)
    }

    fn arguments(&self) -> impl Iterator<Item = (String, String)> + use<> {
        let [h, _, w, b, v] = self.types();
        let parameters = (0..self.shape.layers).flat_map(move |i| {
            [(format!("%w{i}"), w.clone()), (format!("%b{i}"), b.clone()), (format!("%v{i}"), v.clone())]
        });
        parameters.chain([("%h0".to_owned(), h.clone()), ("%target".to_owned(), h)])
    }

    fn forward(&mut self) {
        let [h, x, w, b, v] = self.types();
        self.line(format_args!("%zero = stablehlo.constant dense<0.000000e+00> : tensor<f32>"));
        self.line(format_args!("%one = stablehlo.constant dense<1.000000e+00> : tensor<f32>"));
        self.line(format_args!("%rate = stablehlo.constant dense<0.00999999977> : tensor<f32>"));
        for i in 0..self.shape.layers {
            let next = i + 1;
            self.line(format_args!(
                "%z{i} = stablehlo.dot_general %h{i}, %w{i}, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : ({h}, {w}) -> {x}"
            ));
            self.line(format_args!("%bb{i} = stablehlo.broadcast_in_dim %b{i}, dims = [1] : ({b}) -> {x}"));
            self.line(format_args!("%y{i} = stablehlo.add %z{i}, %bb{i} : {x}"));
            self.line(format_args!("%a{i} = stablehlo.tanh %y{i} : {x}"));
            self.line(format_args!(
                "%r{i} = stablehlo.dot_general %a{i}, %v{i}, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : ({x}, {v}) -> {h}"
            ));
            self.line(format_args!("%h{next} = stablehlo.add %h{i}, %r{i} : {h}"));
        }
        let last = self.shape.layers;
        self.line(format_args!("%e = stablehlo.subtract %h{last}, %target : {h}"));
        self.line(format_args!("%ee = stablehlo.multiply %e, %e : {h}"));
        self.line(format_args!(
            "%loss = stablehlo.reduce(%ee init: %zero) applies stablehlo.add across dimensions = [0, 1] : ({h}, tensor<f32>) -> tensor<f32>"
        ));
        self.line(format_args!("%dh{last} = stablehlo.add %e, %e : {h}"));
    }

    fn backward(&mut self) {
        let [h, x, w, b, v] = self.types();
        for i in (0..self.shape.layers).rev() {
            let next = i + 1;
            self.line(format_args!(
                "%dv{i} = stablehlo.dot_general %a{i}, %dh{next}, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : ({x}, {h}) -> {v}"
            ));
            self.line(format_args!(
                "%da{i} = stablehlo.dot_general %dh{next}, %v{i}, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : ({h}, {v}) -> {x}"
            ));
            self.line(format_args!("%aa{i} = stablehlo.multiply %a{i}, %a{i} : {x}"));
            self.line(format_args!(
                "%ones{i} = stablehlo.broadcast_in_dim %one, dims = [] : (tensor<f32>) -> {x}"
            ));
            self.line(format_args!("%s{i} = stablehlo.subtract %ones{i}, %aa{i} : {x}"));
            self.line(format_args!("%dy{i} = stablehlo.multiply %da{i}, %s{i} : {x}"));
            self.line(format_args!(
                "%db{i} = stablehlo.reduce(%dy{i} init: %zero) applies stablehlo.add across dimensions = [0] : ({x}, tensor<f32>) -> {b}"
            ));
            self.line(format_args!(
                "%dw{i} = stablehlo.dot_general %h{i}, %dy{i}, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : ({h}, {x}) -> {w}"
            ));
            self.line(format_args!(
                "%dx{i} = stablehlo.dot_general %dy{i}, %w{i}, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : ({x}, {w}) -> {h}"
            ));
            self.line(format_args!("%dh{i} = stablehlo.add %dh{next}, %dx{i} : {h}"));
            for (kind, ty) in [("w", &w), ("b", &b), ("v", &v)] {
                self.update(kind, i, ty);
            }
        }
    }

    /// One step of gradient descent.
    fn update(&mut self, kind: &str, i: usize, ty: &str) {
        self.line(format_args!(
            "%rate_{kind}{i} = stablehlo.broadcast_in_dim %rate, dims = [] : (tensor<f32>) -> {ty}"
        ));
        self.line(format_args!("%step_{kind}{i} = stablehlo.multiply %rate_{kind}{i}, %d{kind}{i} : {ty}"));
        self.line(format_args!("%new_{kind}{i} = stablehlo.subtract %{kind}{i}, %step_{kind}{i} : {ty}"));
    }
}
