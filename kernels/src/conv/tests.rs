//! The kernels against loops that say the contract word by word.

use super::*;
use crate::Window;

fn numbers<T: Float>(len: usize, phase: f64) -> Vec<T> {
    (0..len).map(|i| T::from_f64((0.7 * i as f64 + phase).sin() * (1.0 + (i % 5) as f64))).collect()
}

fn bits<T: Float>(x: &[T]) -> Vec<u64> {
    x.iter().map(|x| x.to_f64().to_bits()).collect()
}

/// Shapes with every setting: `(batch, groups, inputs, outputs, [h, w], window)`.
fn shapes() -> Vec<Conv> {
    let window = |kernel, stride, padding, dilation| Window { kernel, stride, padding, dilation };
    let plain = window([3, 3], [1, 1], [1, 1], [1, 1]);
    let conv = |[batch, groups, inputs, outputs]: [usize; 4], size, window| {
        let sliding = Sliding::new(size, window).unwrap();
        Conv { batch, groups, inputs, outputs, sliding }
    };
    let mut all = vec![
        conv([0, 1, 2, 3], [5, 5], plain),
        conv([1, 1, 1, 1], [1, 1], plain),
        conv([3, 1, 2, 5], [6, 7], plain),
        conv([2, 2, 3, 4], [9, 8], window([7, 7], [2, 2], [3, 3], [1, 1])),
        conv([2, 4, 1, 1], [5, 5], plain),
        conv([2, 1, 3, 5], [4, 4], window([1, 1], [1, 1], [0, 0], [1, 1])),
        conv([2, 3, 2, 2], [4, 9], window([1, 1], [2, 3], [1, 0], [1, 1])),
        conv([2, 2, 2, 3], [7, 7], window([3, 2], [1, 2], [2, 3], [2, 3])),
        conv([3, 1, 2, 4], [1, 11], window([1, 4], [1, 4], [0, 1], [1, 1])),
        conv([1, 1, 1, 2], [2, 3], window([2, 1], [1, 1], [5, 4], [1, 1])),
        // More than one block of rows, of channels and of taps.
        conv([2, 1, 16, 2], [40, 90], window([5, 5], [1, 1], [2, 2], [1, 1])),
    ];
    all.extend((1..=33).map(|width| conv([1, 1, 2, 3], [2, width], plain)));
    all
}

/// Calls `term(x, w, y)` for the places of every term whose input exists, and with `None` for a
/// place in the padding; in row-major order of (n, group, o, oy, ox, c, ky, kx).
fn terms(conv: &Conv, mut term: impl FnMut(Option<usize>, usize, usize)) {
    let (sliding, [oh, ow]) = (&conv.sliding, conv.sliding.output());
    let ([h, w], Window { kernel, stride, padding, dilation }) =
        (sliding.input(), *sliding.window());
    for unit in 0..conv.batch * conv.groups {
        let group = unit % conv.groups;
        for o in 0..conv.outputs {
            for pixel in 0..oh * ow {
                for tap in 0..conv.taps() {
                    let (c, place) =
                        (tap / sliding.window().places(), tap % sliding.window().places());
                    let y = pixel / ow * stride[0] + place / kernel[1] * dilation[0];
                    let x = pixel % ow * stride[1] + place % kernel[1] * dilation[1];
                    let inside = y >= padding[0] && y < h + padding[0];
                    let inside = inside && x >= padding[1] && x < w + padding[1];
                    let at = |x_at: usize| (unit * conv.inputs + c) * h * w + x_at;
                    let x = inside.then(|| at((y - padding[0]) * w + x - padding[1]));
                    let w = (group * conv.outputs + o) * conv.taps() + tap;
                    term(x, w, (unit * conv.outputs + o) * oh * ow + pixel);
                }
            }
        }
    }
}

/// The three results by the contract.
fn naive<T: Float>(conv: &Conv, [x, w, y]: [&[T]; 3], biases: [&[T]; 2]) -> [Vec<T>; 3] {
    let mut results = [x, w, y].map(|like| vec![T::ZERO; like.len()]);
    let places = conv.sliding.window().places();
    let mut sent = vec![T::ZERO; x.len() * places];
    let [_, dw, out] = &mut results;
    terms(conv, |x_at, w_at, y_at| {
        let seen = x_at.map_or(T::ZERO, |at| x[at]);
        out[y_at] = w[w_at].mul_add(seen, out[y_at]);
        dw[w_at] = seen.mul_add(y[y_at], dw[w_at]);
        if let Some(at) = x_at {
            // For one input and place the terms come in the order of the output channels.
            let sum = &mut sent[at * places + w_at % places];
            *sum = w[w_at].mul_add(y[y_at], *sum);
        }
    });
    for (x, sent) in results[0].iter_mut().zip(sent.chunks(places)) {
        *x = sent.iter().fold(T::ZERO, |sum, &sent| sum + sent);
    }
    for (result, bias) in [0, 2].into_iter().zip(biases) {
        let plane = [conv.sliding.inputs(), 0, conv.sliding.outputs()][result];
        for (i, plane) in results[result].chunks_mut(plane).enumerate() {
            plane.iter_mut().for_each(|x| *x += bias[i % bias.len()]);
        }
    }
    results
}

fn check<T: Float>() {
    let pools = [Threads::serial(), Threads::new(3).unwrap()];
    for shape in shapes() {
        let [xs, ws, ys] = shape.lens();
        let (x, w, y) = (numbers::<T>(xs, 0.1), numbers::<T>(ws, 0.5), numbers::<T>(ys, 0.9));
        let x_bias = numbers::<T>(shape.groups * shape.inputs, 0.3);
        let y_bias = numbers::<T>(shape.groups * shape.outputs, 0.4);
        let wanted = naive(&shape, [&x, &w, &y], [&x_bias, &y_bias]);
        for threads in &pools {
            let fresh = |len: usize| vec![T::from_f64(f64::NAN); len];
            let mut scratch = fresh(shape.scratch_len(threads));
            let mut got = [xs, ws, ys].map(fresh);
            let [dx, dw, out] = &mut got;
            conv(threads, &shape, [&x, &w], Some(&y_bias), [&mut scratch, out]);
            conv_input(threads, &shape, [&w, &y], Some(&x_bias), [&mut scratch, dx]);
            conv_weight(threads, &shape, [&x, &y], [&mut scratch, dw]);
            for (name, (got, wanted)) in ["x", "w", "y"].iter().zip(got.iter().zip(&wanted)) {
                assert_eq!(bits(got), bits(wanted), "{name} with {threads:?}: {shape:?}");
            }
        }
    }
}

#[test]
fn results_have_the_bits_of_the_written_order_with_any_threads() {
    check::<f32>();
    check::<f64>();
}

#[test]
fn padding_counts_as_zero_so_an_infinite_weight_makes_the_border_nan() {
    let window = Window { kernel: [1, 3], stride: [1, 1], padding: [0, 1], dilation: [1, 1] };
    let sliding = Sliding::new([1, 4], window).unwrap();
    let shape = Conv { batch: 1, groups: 1, inputs: 1, outputs: 1, sliding };
    let serial = Threads::serial();
    let (mut scratch, mut y) = (vec![0.0f32; shape.scratch_len(&serial)], [0.0f32; 4]);
    let w = [f32::NEG_INFINITY, 0.0, 0.0];
    conv(&serial, &shape, [&[1.0; 4], &w], None, [&mut scratch, &mut y]);
    assert!(y[0].is_nan(), "{y:?}");
    assert_eq!(y[1..], [f32::NEG_INFINITY; 3]);
}

#[test]
fn channel_sums_add_lane_sums_in_the_order_of_samples() {
    for (batch, channels, plane) in [(0, 3, 5), (3, 0, 5), (2, 3, 0), (4, 3, 37), (1, 1, 1)] {
        let x = numbers::<f32>(batch * channels * plane, 0.2);
        let mut out = vec![f32::NAN; channels];
        channel_sums(&x, [batch, channels, plane], &mut out);
        for (c, &out) in out.iter().enumerate() {
            let planes = (0..batch).map(|n| lane_sum(&x[(n * channels + c) * plane..][..plane]));
            assert_eq!(out.to_bits(), planes.fold(0.0, |sum, x| sum + x).to_bits());
        }
    }
}
