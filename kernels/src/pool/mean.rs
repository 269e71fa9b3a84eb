//! The loops of the means.

use super::Regions;
use crate::Float;

/// Planes of means; `x` begins with the plane of the first.
pub(super) fn values<T: Float>(regions: &Regions, x: &[T], y: &mut [T]) {
    let [_, width] = regions.input;
    let planes = y.chunks_exact_mut(regions.outputs()).zip(x.chunks_exact(regions.inputs()));
    for (y, x) in planes {
        for (y, row) in y.chunks_exact_mut(regions.columns.len()).zip(&regions.rows) {
            for (y, column) in y.iter_mut().zip(&regions.columns) {
                let mut sum = T::ZERO;
                for x in x.chunks_exact(width).take(row.inputs.end).skip(row.inputs.start) {
                    x[column.inputs.clone()].iter().for_each(|&x| sum += x);
                }
                *y = sum / T::from_f64((row.count * column.count) as f64);
            }
        }
    }
}

/// Planes of gradients; `dy` begins with the plane of the first.
pub(super) fn gradients<T: Float>(regions: &Regions, dy: &[T], dx: &mut [T]) {
    let [_, width] = regions.input;
    let planes = dx.chunks_exact_mut(regions.inputs()).zip(dy.chunks_exact(regions.outputs()));
    for (dx, dy) in planes {
        dx.fill(T::ZERO);
        for (dy, row) in dy.chunks_exact(regions.columns.len()).zip(&regions.rows) {
            for (&dy, column) in dy.iter().zip(&regions.columns) {
                let sent = dy / T::from_f64((row.count * column.count) as f64);
                for dx in dx.chunks_exact_mut(width).take(row.inputs.end).skip(row.inputs.start) {
                    dx[column.inputs.clone()].iter_mut().for_each(|dx| *dx += sent);
                }
            }
        }
    }
}
