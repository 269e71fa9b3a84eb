//! Pools: the largest or the mean input that each output sees, plane by plane.
//!
//! # Conventions
//!
//! * **Max**: padding counts as −∞ and never wins, for it is not looked at. Of equals the first in
//!   row-major order of the window wins, and gets the whole gradient. A NaN wins over every
//!   number, the first NaN over the others.
//! * **Mean**: the sum from +0 in row-major order of the inputs that exist, divided by a count:
//!   by the places of the window, or by the inputs that exist.
//! * **Gradients**: each input adds up, from +0, what the outputs send to it in row-major order of
//!   the outputs. A mean sends `dy / count`.

mod max;
mod mean;
#[cfg(test)]
mod tests;

use std::ops::Range;

use crate::{Element, Float, Sliding, Threads};

/// Elements below which a part is not worth handing to another thread.
const MIN_PART: usize = 1 << 16;

/// Writes the largest input of each window to y, and its place in the window to `places`, counted
/// in row-major order.
///
/// **Shapes** x `[planes, height, width]`; y and `places` `[planes, output height, output width]`.
/// `P` holds every place: u8 for windows of at most 256. Each window sees an input; the tensor
/// layer ensures it.
///
/// # Panics
/// When the lengths do not fit.
pub fn max_pool<T: Float, P: Element>(
    threads: &Threads,
    sliding: &Sliding,
    x: &[T],
    (y, places): (&mut [T], &mut [P]),
) {
    assert_eq!(y.len(), places.len(), "a place for each output");
    check_planes(sliding, x.len(), y.len());
    let parts = threads.parts(x.len(), MIN_PART);
    let unit = sliding.outputs();
    threads.split_pair_mut((y, places), unit, parts, |first, y, places| {
        max::values(sliding, &x[first * sliding.inputs()..], (y, places));
    });
}

/// Writes the gradient of x for a gradient `dy` of the result, where `places` are those of
/// [`max_pool`].
///
/// # Panics
/// When the lengths do not fit.
pub fn max_pool_vjp<T: Float, P: Element>(
    threads: &Threads,
    sliding: &Sliding,
    places: &[P],
    dy: &[T],
    dx: &mut [T],
) {
    assert_eq!(dy.len(), places.len(), "a place for each output");
    check_planes(sliding, dx.len(), dy.len());
    let parts = threads.parts(dx.len(), MIN_PART);
    threads.split_mut(dx, sliding.inputs(), parts, |first, dx| {
        let first = first * sliding.outputs();
        max::gradients(sliding, &places[first..], &dy[first..], dx);
    });
}

fn check_planes(sliding: &Sliding, inputs: usize, outputs: usize) {
    assert!(inputs.is_multiple_of(sliding.inputs()), "whole input planes");
    let planes = inputs / sliding.inputs();
    assert_eq!(outputs, planes * sliding.outputs(), "an output plane for each input plane");
}

/// What each output of a mean sees: along each axis a range of inputs and a count.
#[derive(Clone, Debug)]
pub struct Regions {
    input: [usize; 2],
    rows: Vec<Region>,
    columns: Vec<Region>,
}

#[derive(Clone, Debug)]
struct Region {
    inputs: Range<usize>,
    /// The mean divides by the product of both axes' counts.
    count: usize,
}

impl Regions {
    /// Windows without dilation. With `count_padding` a mean divides by the places of the window,
    /// otherwise by the inputs that exist.
    pub fn sliding(sliding: &Sliding, count_padding: bool) -> Self {
        let [rows, columns] = [0, 1].map(|axis| {
            let region = |at| {
                let (places, first) = sliding.seen(axis, at);
                let all = sliding.window().kernel[axis];
                let count = if count_padding { all } else { places.len() };
                Region { inputs: first..first + places.len(), count }
            };
            (0..sliding.output()[axis]).map(region).collect()
        });
        Regions { input: sliding.input(), rows, columns }
    }

    /// The input cut into `output` regions along each axis, which overlap by one where the lengths
    /// do not divide: region i is `⌊i · input / output⌋ .. ⌈(i + 1) · input / output⌉`.
    pub fn adaptive(input: [usize; 2], output: [usize; 2]) -> Self {
        let [rows, columns] = [0, 1].map(|axis| {
            // In u128: no product of two lengths is too large for it.
            let (input, output) = (input[axis] as u128, output[axis] as u128);
            let region = |i: u128| {
                let (start, end) = (i * input / output, ((i + 1) * input).div_ceil(output));
                Region { inputs: start as usize..end as usize, count: (end - start) as usize }
            };
            (0..output).map(region).collect()
        });
        Regions { input, rows, columns }
    }

    fn inputs(&self) -> usize {
        self.input[0] * self.input[1]
    }

    fn outputs(&self) -> usize {
        self.rows.len() * self.columns.len()
    }
}

/// Writes the mean of each region to y.
///
/// **Shapes** x `[planes, height, width]`, y `[planes, rows, columns]`. No length but `planes` is
/// 0; the tensor layer ensures it.
///
/// # Panics
/// When the lengths do not fit.
pub fn mean_pool<T: Float>(threads: &Threads, regions: &Regions, x: &[T], y: &mut [T]) {
    let (inputs, outputs) = (regions.inputs(), regions.outputs());
    assert_eq!(x.len() / inputs * outputs, y.len(), "an output plane for each input plane");
    let parts = threads.parts(x.len(), MIN_PART);
    threads.split_mut(y, outputs, parts, |first, y| {
        mean::values(regions, &x[first * inputs..], y);
    });
}

/// Writes the gradient of x for a gradient `dy` of the means.
///
/// # Panics
/// When the lengths do not fit.
pub fn mean_pool_vjp<T: Float>(threads: &Threads, regions: &Regions, dy: &[T], dx: &mut [T]) {
    let (inputs, outputs) = (regions.inputs(), regions.outputs());
    assert_eq!(dx.len() / inputs * outputs, dy.len(), "an output plane for each input plane");
    let parts = threads.parts(dx.len(), MIN_PART);
    threads.split_mut(dx, inputs, parts, |first, dx| {
        mean::gradients(regions, &dy[first * outputs..], dx);
    });
}
