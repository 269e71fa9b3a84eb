//! The loops around the products: which samples, groups and blocks.

use std::ops::Range;

use super::Conv;
use super::patches::{crop, fold, pad, unfold};
use crate::matmul::{Ends, chain};
use crate::simd::simd;
use crate::{Float, MatRef, Threads};

/// Two operands and a bias.
type Operands<'a, T> = ([&'a [T]; 2], Option<&'a [T]>);

/// Outputs of whole (sample, group) units from number `first` on.
pub(super) fn outputs<T: Float>(
    threads: &Threads,
    conv: &Conv,
    ([x, w], bias): Operands<T>,
    (first, out): (usize, &mut [T]),
    scratch: &mut [T],
) {
    let plane = conv.sliding.outputs();
    let [height, width] = conv.sliding.output();
    let (plane_scratch, columns) = scratch.split_at_mut(conv.plane());
    for (unit, y) in out.chunks_exact_mut(conv.y_unit()).enumerate() {
        let (unit, group) = (first + unit, (first + unit) % conv.groups);
        let x = &x[unit * conv.x_unit()..][..conv.x_unit()];
        let w = &w[group * conv.w_unit()..][..conv.w_unit()];
        let w = MatRef::new(w, conv.outputs, conv.taps(), conv.taps(), 1);
        let row_bias = bias.map(|bias| &bias[group * conv.outputs..][..conv.outputs]);
        let ends = Ends { resume: false, row_bias };
        if conv.sliding.is_pointwise() {
            chain(threads, w, MatRef::new(x, conv.inputs, plane, plane, 1), ends, (y, plane));
            continue;
        }
        for row in (0..height).step_by(conv.block_rows()) {
            let rows = row..height.min(row + conv.block_rows());
            let len = rows.len() * width;
            let columns = &mut columns[..conv.taps() * len];
            unfold_channels(conv, x, rows.clone(), 0..conv.taps(), [plane_scratch, columns]);
            let columns = MatRef::new(columns, conv.taps(), len, len, 1);
            chain(threads, w, columns, ends, (&mut y[rows.start * width..], plane));
        }
    }
}

/// Inputs of whole (sample, group) units from number `first` on.
pub(super) fn inputs<T: Float>(
    threads: &Threads,
    conv: &Conv,
    ([w, y], bias): Operands<T>,
    (first, out): (usize, &mut [T]),
    scratch: &mut [T],
) {
    let (sliding, taps) = (&conv.sliding, conv.taps());
    let (places, outputs) = (sliding.window().places(), sliding.outputs());
    let (plane, columns) = scratch.split_at_mut(conv.plane());
    for (unit, x) in out.chunks_exact_mut(conv.x_unit()).enumerate() {
        let (unit, group) = (first + unit, (first + unit) % conv.groups);
        let y = &y[unit * conv.y_unit()..][..conv.y_unit()];
        let y = MatRef::new(y, conv.outputs, outputs, outputs, 1);
        let w = &w[group * conv.w_unit()..][..conv.w_unit()];
        let bias = bias.map(|bias| &bias[group * conv.inputs..][..conv.inputs]);
        if sliding.is_pointwise() {
            let ends = Ends { resume: false, row_bias: bias };
            chain(threads, MatRef::new(w, taps, conv.outputs, 1, taps), y, ends, (x, outputs));
            continue;
        }
        let block = conv.block_inputs();
        for (index, x) in x.chunks_mut(block * sliding.inputs()).enumerate() {
            let first = index * block;
            let rows = x.len() / sliding.inputs() * places;
            let w = MatRef::new(&w[first * places..], rows, conv.outputs, 1, taps);
            let columns = &mut columns[..rows * outputs];
            chain(threads, w, y, Ends { resume: false, row_bias: None }, (columns, outputs));
            let channels = x.chunks_exact_mut(sliding.inputs());
            for (i, (x, columns)) in
                channels.zip(columns.chunks_exact(places * outputs)).enumerate()
            {
                let bias = bias.map(|bias| bias[first + i]);
                fold_channel(conv, columns, bias, [plane, x]);
            }
        }
    }
}

/// Elements of the weight from tap `first` of all groups on, as [tap, output channel].
pub(super) fn weights<T: Float>(
    threads: &Threads,
    conv: &Conv,
    [x, y]: [&[T]; 2],
    (first, out): (usize, &mut [T]),
    scratch: &mut [T],
) {
    let (taps, outputs) = (conv.taps(), conv.outputs);
    let (pixels, height) = (conv.sliding.outputs(), conv.sliding.output()[0]);
    let block = conv.block_inputs() * conv.sliding.window().places();
    let (plane, columns) = scratch.split_at_mut(conv.plane());
    let end = first + out.len() / outputs;
    let mut tap = first;
    while tap < end {
        let group = tap / taps;
        let stop = end.min(taps * (group + 1)).min(tap + block);
        let out = &mut out[(tap - first) * outputs..(stop - first) * outputs];
        let range = tap - group * taps..stop - group * taps;
        for sample in 0..conv.batch {
            let unit = sample * conv.groups + group;
            let x = &x[unit * conv.x_unit()..][..conv.x_unit()];
            let y = &y[unit * conv.y_unit()..][..conv.y_unit()];
            let y = MatRef::new(y, pixels, outputs, 1, pixels);
            let seen = if conv.sliding.is_pointwise() {
                &x[range.start * pixels..range.end * pixels]
            } else {
                let columns = &mut columns[..range.len() * pixels];
                unfold_channels(conv, x, 0..height, range.clone(), [plane, columns]);
                columns
            };
            let seen = MatRef::new(seen, range.len(), pixels, pixels, 1);
            let ends = Ends { resume: sample > 0, row_bias: None };
            chain(threads, seen, y, ends, (&mut *out, outputs));
        }
        tap = stop;
    }
}

/// Writes what whole rows of outputs see at each of the `taps`, one row of the matrix for each.
fn unfold_channels<T: Float>(
    conv: &Conv,
    x: &[T],
    rows: Range<usize>,
    taps: Range<usize>,
    [plane, columns]: [&mut [T]; 2],
) {
    let sliding = &conv.sliding;
    let [_, kernel_width] = sliding.window().kernel;
    let (places, len) = (sliding.window().places(), rows.len() * sliding.output()[1]);
    let stride = sliding.window().stride[0];
    // No window begins outside the padded plane, so the last row ends within it.
    let extent = sliding.window().extent(0).unwrap_or(1);
    let seen = rows.start * stride..(rows.end - 1) * stride + extent;
    simd(
        #[inline(always)]
        || {
            let mut channel = None;
            for (tap, out) in taps.zip(columns.chunks_exact_mut(len)) {
                let (c, place) = (tap / places, tap % places);
                if channel != Some(c) {
                    pad(&x[c * sliding.inputs()..], sliding, seen.clone(), plane);
                    channel = Some(c);
                }
                unfold(plane, sliding, [place / kernel_width, place % kernel_width], out);
            }
        },
    );
}

/// Writes one channel of the input from its unfolded rows.
fn fold_channel<T: Float>(conv: &Conv, columns: &[T], bias: Option<T>, [plane, x]: [&mut [T]; 2]) {
    let sliding = &conv.sliding;
    let [_, kernel_width] = sliding.window().kernel;
    simd(
        #[inline(always)]
        || {
            plane.fill(T::ZERO);
            for (place, y) in columns.chunks_exact(sliding.outputs()).enumerate() {
                fold(y, sliding, [place / kernel_width, place % kernel_width], plane);
            }
            crop(plane, sliding, bias, x);
        },
    );
}
