//! Views, movement and gathers, against the evaluator.

#![allow(clippy::unwrap_used)]

mod common;
use common::check;

#[test]
fn attention_heads_are_split_and_merged() {
    check(
        "func.func @main(%a: tensor<4x16x96xf32>, %b: tensor<96xf32>) -> (tensor<4x2x16x16xf32>) {
           %0 = stablehlo.broadcast_in_dim %b, dims = [2] : (tensor<96xf32>) -> tensor<4x16x96xf32>
           %1 = stablehlo.add %a, %0 : tensor<4x16x96xf32>
           %2 = stablehlo.slice %1 [0:4, 0:16, 32:64] : (tensor<4x16x96xf32>) -> tensor<4x16x32xf32>
           %3 = stablehlo.reshape %2 : (tensor<4x16x32xf32>) -> tensor<4x16x2x16xf32>
           %4 = stablehlo.transpose %3, dims = [0, 2, 1, 3] : (tensor<4x16x2x16xf32>) -> tensor<4x2x16x16xf32>
           return %4 : tensor<4x2x16x16xf32>
         }",
        0.0,
    );
}

#[test]
fn movement_of_all_kinds() {
    check(
        "func.func @main(%a: tensor<6x10xi32>, %b: tensor<6x4xi32>, %v: tensor<i32>) -> (tensor<14x6xi32>, tensor<84xi32>) {
           %c = stablehlo.concatenate %a, %b, dim = 1 : (tensor<6x10xi32>, tensor<6x4xi32>) -> tensor<6x14xi32>
           %r = stablehlo.reverse %c, dims = [1] : tensor<6x14xi32>
           %i = stablehlo.iota dim = 1 : tensor<6x14xi32>
           %s = stablehlo.add %r, %i : tensor<6x14xi32>
           %t = stablehlo.transpose %s, dims = [1, 0] : (tensor<6x14xi32>) -> tensor<14x6xi32>
           %p = stablehlo.pad %b, %v, low = [1, -1], high = [2, 9], interior = [0, 1] : (tensor<6x4xi32>, tensor<i32>) -> tensor<9x15xi32>
           %x = stablehlo.slice %p [1:7, 0:14] : (tensor<9x15xi32>) -> tensor<6x14xi32>
           %f = stablehlo.reshape %x : (tensor<6x14xi32>) -> tensor<84xi32>
           return %t, %f : tensor<14x6xi32>, tensor<84xi32>
         }",
        0.0,
    );
}

#[test]
fn constants_and_bit_patterns() {
    check(
        "func.func @main(%a: tensor<2x3xbf16>) -> tensor<2x3xbf16> {
           %c = stablehlo.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.5, 6.25]]> : tensor<2x3xbf16>
           %0 = stablehlo.multiply %a, %c : tensor<2x3xbf16>
           return %0 : tensor<2x3xbf16>
         }",
        0.0,
    );
}

#[test]
fn dynamic_slices_are_moved_inside() {
    check(
        "func.func @main(%a: tensor<8x9xf32>, %u: tensor<3x4xf32>, %i: tensor<i32>, %j: tensor<ui8>) -> (tensor<8x9xf32>, tensor<8x9xf32>) {
           %k = stablehlo.convert %j : (tensor<ui8>) -> tensor<i32>
           %e = stablehlo.add %a, %a : tensor<8x9xf32>
           %0 = stablehlo.dynamic_update_slice %e, %u, %i, %k : (tensor<8x9xf32>, tensor<3x4xf32>, tensor<i32>, tensor<i32>) -> tensor<8x9xf32>
           %1 = stablehlo.dynamic_slice %e, %i, %k, sizes = [2, 5] : (tensor<8x9xf32>, tensor<i32>, tensor<i32>) -> tensor<2x5xf32>
           %z = stablehlo.constant dense<0.0> : tensor<f32>
           %2 = stablehlo.pad %1, %z, low = [3, 2], high = [3, 2], interior = [0, 0] : (tensor<2x5xf32>, tensor<f32>) -> tensor<8x9xf32>
           return %0, %2 : tensor<8x9xf32>, tensor<8x9xf32>
         }",
        0.0,
    );
}

#[test]
fn gathers_rows_and_elements() {
    check(
        "func.func @main(%a: tensor<11x24xf32>, %i: tensor<4x5xi32>) -> tensor<4x5x24xf32> {
           %1 = \"stablehlo.gather\"(%a, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, slice_sizes = array<i64: 1, 24>}> : (tensor<11x24xf32>, tensor<4x5xi32>) -> tensor<4x5x24xf32>
           return %1 : tensor<4x5x24xf32>
         }",
        0.0,
    );
    check(
        "func.func @main(%a: tensor<4x11xf32>, %i: tensor<4x3x1xi64>) -> tensor<4x3xf32> {
           %1 = \"stablehlo.gather\"(%a, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x11xf32>, tensor<4x3x1xi64>) -> tensor<4x3xf32>
           return %1 : tensor<4x3xf32>
         }",
        0.0,
    );
}

#[test]
fn transposes_in_tiles() {
    for (of, to) in [("1024x80", "80x1024"), ("1000x70", "70x1000"), ("520x1024", "1024x520")] {
        check(
            &format!(
                "func.func @main(%a: tensor<{of}xf32>, %b: tensor<{to}xf32>) -> tensor<{to}xf32> {{
                   %0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<{of}xf32>) -> tensor<{to}xf32>
                   %1 = stablehlo.add %0, %b : tensor<{to}xf32>
                   return %1 : tensor<{to}xf32>
                 }}"
            ),
            0.0,
        );
    }
}

#[test]
fn rows_are_cut_at_edges() {
    check(
        "func.func @main(%a: tensor<70x10xf32>, %b: tensor<70x13xf32>, %z: tensor<f32>) -> (tensor<70x27xf32>, tensor<70x27xf32>) {
           %0 = stablehlo.concatenate %a, %b, %a, dim = 1 : (tensor<70x10xf32>, tensor<70x13xf32>, tensor<70x10xf32>) -> tensor<70x33xf32>
           %1 = stablehlo.slice %0 [0:70, 3:30] : (tensor<70x33xf32>) -> tensor<70x27xf32>
           %2 = stablehlo.pad %b, %z, low = [0, 5], high = [0, 9], interior = [0, 0] : (tensor<70x13xf32>, tensor<f32>) -> tensor<70x27xf32>
           %3 = stablehlo.add %1, %2 : tensor<70x27xf32>
           return %1, %3 : tensor<70x27xf32>, tensor<70x27xf32>
         }",
        0.0,
    );
}
