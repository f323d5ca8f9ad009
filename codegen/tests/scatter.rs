//! Scatters, against the evaluator.

#![allow(clippy::unwrap_used)]

mod common;
use common::check;

#[test]
fn rows_are_added() {
    check(
        "func.func @main(%a: tensor<9x24xf32>, %i: tensor<5x1xi8>, %u: tensor<5x24xf32>) -> tensor<9x24xf32> {
           %m = stablehlo.constant dense<11> : tensor<5x1xi8>
           %j = stablehlo.and %i, %m : tensor<5x1xi8>
           %0 = \"stablehlo.scatter\"(%a, %j, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
           ^bb0(%x: tensor<f32>, %y: tensor<f32>):
             %s = stablehlo.add %x, %y : tensor<f32>
             stablehlo.return %s : tensor<f32>
           }) : (tensor<9x24xf32>, tensor<5x1xi8>, tensor<5x24xf32>) -> tensor<9x24xf32>
           return %0 : tensor<9x24xf32>
         }",
        0.0,
    );
}

#[test]
fn elements_are_set_at_pairs_of_indices() {
    check(
        "func.func @main(%a: tensor<4x11xi32>, %i: tensor<7x2xi8>, %u: tensor<7xi32>) -> tensor<4x11xi32> {
           %m = stablehlo.constant dense<11> : tensor<7x2xi8>
           %j = stablehlo.and %i, %m : tensor<7x2xi8>
           %0 = \"stablehlo.scatter\"(%a, %j, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
           ^bb0(%x: tensor<i32>, %y: tensor<i32>):
             stablehlo.return %y : tensor<i32>
           }) : (tensor<4x11xi32>, tensor<7x2xi8>, tensor<7xi32>) -> tensor<4x11xi32>
           return %0 : tensor<4x11xi32>
         }",
        0.0,
    );
}

#[test]
fn the_gradient_of_a_pool() {
    for (shape, result) in [("2x6x6x5", "2x3x3x5"), ("2x6x6x300", "2x3x3x300")] {
        check(
            &format!(
                "func.func @main(%a: tensor<{shape}xf32>, %s: tensor<{result}xf32>) -> tensor<{shape}xf32> {{
                   %z = stablehlo.constant dense<0.0> : tensor<f32>
                   %0 = \"stablehlo.select_and_scatter\"(%a, %s, %z) <{{window_dimensions = array<i64: 1, 3, 3, 1>, window_strides = array<i64: 1, 2, 2, 1>, padding = dense<[[0, 0], [0, 1], [1, 0], [0, 0]]> : tensor<4x2xi64>}}> ({{
                   ^bb0(%x: tensor<f32>, %y: tensor<f32>):
                     %g = stablehlo.compare GE, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
                     stablehlo.return %g : tensor<i1>
                   }}, {{
                   ^bb0(%x: tensor<f32>, %y: tensor<f32>):
                     %t = stablehlo.add %x, %y : tensor<f32>
                     stablehlo.return %t : tensor<f32>
                   }}) : (tensor<{shape}xf32>, tensor<{result}xf32>, tensor<f32>) -> tensor<{shape}xf32>
                   return %0 : tensor<{shape}xf32>
                 }}"
            ),
            1e-6,
        );
    }
}

#[test]
fn few_updates_of_many_elements() {
    check(
        "func.func @main(%i: tensor<7x1xi32>, %u: tensor<7xf32>) -> tensor<30x11xf32> {
           %z = stablehlo.constant dense<0.0> : tensor<f32>
           %a = stablehlo.broadcast_in_dim %z, dims = [] : (tensor<f32>) -> tensor<30x11xf32>
           %m = stablehlo.constant dense<15> : tensor<7x1xi32>
           %r = stablehlo.and %i, %m : tensor<7x1xi32>
           %k = stablehlo.iota dim = 0 : tensor<7x1xi32>
           %j = stablehlo.concatenate %r, %k, dim = 1 : (tensor<7x1xi32>, tensor<7x1xi32>) -> tensor<7x2xi32>
           %0 = \"stablehlo.scatter\"(%a, %j, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
           ^bb0(%x: tensor<f32>, %y: tensor<f32>):
             %s = stablehlo.add %x, %y : tensor<f32>
             stablehlo.return %s : tensor<f32>
           }) : (tensor<30x11xf32>, tensor<7x2xi32>, tensor<7xf32>) -> tensor<30x11xf32>
           return %0 : tensor<30x11xf32>
         }",
        0.0,
    );
}
