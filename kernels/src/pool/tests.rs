//! The pools against loops that say the contract word by word.

use super::*;
use crate::Window;

/// Windows for a plane of this size: pairs, and one of everything else.
fn windows([height, width]: [usize; 2]) -> Vec<Sliding> {
    let window = |kernel, stride, padding, dilation| Window { kernel, stride, padding, dilation };
    let all = [
        window([2, 2], [2, 2], [0, 0], [1, 1]),
        window([3, 3], [2, 2], [1, 1], [1, 1]),
        window([1, 2], [1, 3], [0, 1], [1, 2]),
        window([2, 3], [1, 1], [1, 1], [2, 1]),
    ];
    let fits = |window| Sliding::new([height, width], window);
    all.into_iter().filter_map(fits).collect()
}

/// For each output the inputs that it sees, with their places, in row-major order.
fn seen(sliding: &Sliding) -> Vec<Vec<(usize, usize)>> {
    let Window { kernel, stride, padding, dilation } = *sliding.window();
    let ([height, width], [rows, columns]) = (sliding.input(), sliding.output());
    let one = |at: usize| {
        let input = |place: usize| {
            let y = at / columns * stride[0] + place / kernel[1] * dilation[0];
            let x = at % columns * stride[1] + place % kernel[1] * dilation[1];
            let inside = y >= padding[0] && y < height + padding[0];
            let inside = inside && x >= padding[1] && x < width + padding[1];
            inside.then(|| ((y - padding[0]) * width + x - padding[1], place))
        };
        (0..kernel[0] * kernel[1]).filter_map(input).collect()
    };
    (0..rows * columns).map(one).collect()
}

fn numbers(len: usize) -> Vec<f32> {
    // Few distinct values, so that there are ties; NaN and −0 among them.
    let special = |i: usize| match i % 29 {
        7 => f32::NAN,
        11 => -0.0,
        i => (i * i % 7) as f32 - 3.0,
    };
    (0..len).map(special).collect()
}

fn bits(x: &[f32]) -> Vec<u32> {
    x.iter().map(|x| if x.is_nan() { f32::NAN } else { *x }.to_bits()).collect()
}

fn check_max<P: Element>(threads: &Threads, sliding: &Sliding, planes: usize) {
    let (inputs, outputs) = (sliding.inputs(), sliding.outputs());
    let x = numbers(planes * inputs);
    let dy: Vec<f32> = (0..planes * outputs).map(|i| (0.3 * i as f32).sin()).collect();
    let (mut want, mut want_dx) = (Vec::new(), vec![0.0f32; x.len()]);
    for plane in 0..planes {
        for seen in seen(sliding) {
            let x = &x[plane * inputs..];
            let nan = seen.iter().find(|&&(at, _)| x[at].is_nan());
            let max = seen.iter().map(|&(at, _)| x[at]).fold(f32::NEG_INFINITY, f32::max);
            let first = nan.or(seen.iter().find(|&&(at, _)| x[at] == max)).unwrap();
            want_dx[plane * inputs + first.0] += dy[want.len()];
            want.push((x[first.0], first.1));
        }
    }
    let mut y = vec![9.0; want.len()];
    let mut places = vec![P::default(); want.len()];
    max_pool(threads, sliding, &x, (&mut y, &mut places));
    let want_y: Vec<f32> = want.iter().map(|want| want.0).collect();
    assert_eq!(bits(&y), bits(&want_y), "{sliding:?}");
    for (got, want) in places.iter().zip(&want) {
        assert_eq!(got.to_f64(), want.1 as f64, "{sliding:?}");
    }
    let mut dx = vec![9.0; x.len()];
    max_pool_vjp(threads, sliding, &places, &dy, &mut dx);
    assert_eq!(bits(&dx), bits(&want_dx), "{sliding:?}");
}

#[test]
fn the_first_of_the_largest_wins_and_gets_the_whole_gradient() {
    let serial = Threads::serial();
    for height in [2, 3, 4, 7] {
        for width in (2..=40).chain([66, 67]) {
            for sliding in windows([height, width]) {
                check_max::<u8>(&serial, &sliding, 3);
                check_max::<i64>(&serial, &sliding, 1);
                check_max::<u8>(&serial, &sliding, 0);
            }
        }
    }
}

#[test]
fn many_threads_give_the_bits_of_one() {
    let (serial, many) = (Threads::serial(), Threads::new(3).unwrap());
    for sliding in windows([9, 14]) {
        let planes = 3 * MIN_PART / sliding.inputs() + 2;
        check_max::<u8>(&many, &sliding, planes);
        let x: Vec<f32> = (0..planes * sliding.inputs()).map(|i| (i as f32).sin()).collect();
        let regions = Regions::sliding(&sliding, true);
        let run = |threads| {
            let mut y = vec![0.0; planes * sliding.outputs()];
            let mut dx = vec![0.0; x.len()];
            mean_pool(threads, &regions, &x, &mut y);
            mean_pool_vjp(threads, &regions, &y, &mut dx);
            (bits(&y), bits(&dx))
        };
        assert!(run(&serial) == run(&many), "{sliding:?}");
    }
}

#[test]
fn means_divide_the_sum_of_what_exists_by_the_chosen_count() {
    let serial = Threads::serial();
    for sliding in windows([5, 7]).into_iter().filter(|s| s.window().dilation == [1, 1]) {
        let x: Vec<f32> = (0..2 * sliding.inputs()).map(|i| (0.9 * i as f32).sin()).collect();
        for count_padding in [true, false] {
            let regions = Regions::sliding(&sliding, count_padding);
            let mut y = vec![9.0; 2 * sliding.outputs()];
            mean_pool(&serial, &regions, &x, &mut y);
            let (mut want, mut want_dx) = (Vec::new(), vec![0.0f32; x.len()]);
            for plane in 0..2 {
                for seen in seen(&sliding) {
                    let all = sliding.window().places();
                    let count = if count_padding { all } else { seen.len() } as f32;
                    let sum = seen.iter().fold(0.0, |sum, &(at, _)| {
                        want_dx[plane * sliding.inputs() + at] += y[want.len()] / count;
                        sum + x[plane * sliding.inputs() + at]
                    });
                    want.push(sum / count);
                }
            }
            assert_eq!(bits(&y), bits(&want), "{sliding:?}");
            let mut dx = vec![9.0; x.len()];
            mean_pool_vjp(&serial, &regions, &y, &mut dx);
            assert_eq!(bits(&dx), bits(&want_dx), "{sliding:?}");
        }
    }
}

#[test]
fn adaptive_regions_cover_the_input_and_overlap_where_lengths_do_not_divide() {
    let ranges = |input, output| -> Vec<Range<usize>> {
        let regions = Regions::adaptive([1, input], [1, output]);
        regions.columns.into_iter().map(|region| region.inputs).collect()
    };
    assert_eq!(ranges(6, 3), [0..2, 2..4, 4..6]);
    assert_eq!(ranges(7, 3), [0..3, 2..5, 4..7]);
    assert_eq!(ranges(2, 4), [0..1, 0..1, 1..2, 1..2]);
    assert_eq!(ranges(5, 1), vec![0..5]);
}
