//! Convolutions, pools and upsampling: gradients, and cases that other engines got wrong.

mod common;

use common::{Input, check, check_batched, input};
use ringgrad_autograd::{Result, Var};
use tensor::{ConvSettings, DType, Device, Tensor, Window};

fn leaf(values: &[f64], shape: &[usize]) -> Var {
    Var::leaf("x", Tensor::from_slice(&Device::cpu(), values, shape).unwrap())
}

/// The gradients of Σ y · weights.
fn grads(y: &Var, weights: &[f64], leaves: &[&Var]) -> Vec<Vec<f64>> {
    let weights = Tensor::from_slice(&Device::cpu(), weights, y.value().shape()).unwrap();
    let sum = (y * &Var::constant(weights)).unwrap().sum_all().unwrap();
    let grads = sum.backward().unwrap();
    leaves.iter().map(|leaf| grads.get(leaf).unwrap().to_vec().unwrap()).collect()
}

/// A convolution with every setting, with and without bias.
fn check_conv2d(x: [usize; 4], w: [usize; 4], settings: ConvSettings<2>) {
    let inputs = [input(&x, 0.1), input(&w, 0.5), input(&w[..1], 0.2)];
    let name = format!("conv2d {x:?} {w:?} {settings:?}");
    check_batched(&name, &inputs, 1, |v| v[0].conv2d(&v[1], Some(&v[2]), settings));
    check_batched(&name, &inputs[..2], 1, |v| v[0].conv2d(&v[1], None, settings));
}

#[test]
fn conv2d_gradients_agree_with_central_differences() {
    let plain = ConvSettings::default();
    check_conv2d([3, 2, 4, 5], [3, 2, 3, 2], plain);
    check_conv2d([2, 3, 4, 4], [2, 3, 1, 1], plain);
    check_conv2d([2, 2, 3, 3], [2, 2, 1, 1], ConvSettings { stride: [2, 1], ..plain });
    let uneven = ConvSettings { stride: [2, 1], padding: [1, 2], dilation: [1, 2], groups: 2 };
    check_conv2d([2, 4, 5, 4], [6, 2, 2, 3], uneven);
    check_conv2d([2, 3, 4, 3], [3, 1, 3, 3], ConvSettings { padding: [1, 1], groups: 3, ..plain });
}

#[test]
fn conv1d_and_transposed_gradients_agree_also_over_a_batch() {
    let settings = ConvSettings { stride: [2], padding: [1], dilation: [2], groups: 2 };
    let inputs = [input(&[3, 4, 9], 0.1), input(&[2, 2, 3], 0.5), input(&[2], 0.2)];
    check_batched("conv1d", &inputs, 1, |v| v[0].conv1d(&v[1], Some(&v[2]), settings));
    let inputs = [input(&[3, 4, 4], 0.1), input(&[4, 3, 3], 0.5), input(&[6], 0.2)];
    check_batched("conv_transpose1d", &inputs, 1, |v| {
        v[0].conv_transpose1d(&v[1], Some(&v[2]), settings, [1])
    });
    let settings = ConvSettings { stride: [2, 3], padding: [1, 0], ..Default::default() };
    let inputs = [input(&[3, 2, 3, 2], 0.1), input(&[2, 3, 3, 2], 0.5), input(&[3], 0.2)];
    for output_padding in [[0, 0], [1, 2]] {
        check_batched("conv_transpose2d", &inputs, 1, |v| {
            v[0].conv_transpose2d(&v[1], Some(&v[2]), settings, output_padding)
        });
    }
    check_batched(
        "conv_transpose2d of points",
        &[input(&[2, 2, 3, 2], 0.1), input(&[2, 3, 1, 1], 0.5)],
        1,
        |v| v[0].conv_transpose2d(&v[1], None, Default::default(), [0, 0]),
    );
}

#[test]
fn pool_and_upsampling_gradients_agree() {
    let x = || [input(&[2, 2, 5, 6], 0.3)];
    let windows = [
        Window::new([2, 2]),
        Window { stride: [2, 1], padding: [1, 1], ..Window::new([3, 2]) },
        Window { stride: [1, 2], padding: [1, 0], dilation: [1, 2], ..Window::new([2, 3]) },
    ];
    for window in windows {
        check_batched("max_pool2d", &x(), 1, |v| v[0].max_pool2d(window));
    }
    for count_padding in [true, false] {
        for window in &windows[..2] {
            check_batched("avg_pool2d", &x(), 1, |v| v[0].avg_pool2d(*window, count_padding));
        }
        let line = [input(&[2, 3, 7], 0.3)];
        let window = Window { stride: [2], padding: [1], ..Window::new([3]) };
        check_batched("avg_pool1d", &line, 1, |v| v[0].avg_pool1d(window, count_padding));
        check_batched("max_pool1d", &line, 1, |v| v[0].max_pool1d(window));
    }
    for size in [[1, 1], [2, 4], [5, 6], [7, 3]] {
        check_batched("adaptive", &x(), 1, |v| v[0].adaptive_avg_pool2d(size));
    }
    for size in [[10, 18], [7, 8], [3, 2], [1, 1]] {
        check_batched("nearest", &x(), 1, |v| v[0].upsample_nearest2d(size));
        for align_corners in [true, false] {
            check_batched("bilinear", &x(), 1, |v| v[0].upsample_bilinear2d(size, align_corners));
        }
    }
}

#[test]
fn a_stride_that_drops_elements_leaves_them_zero_gradients_along_each_axis() {
    let x: Vec<f64> = (1..=30).map(|i| f64::from(i) / 10.0).collect();
    let (x, w) = (leaf(&x, &[1, 1, 5, 6]), leaf(&[1.0, 2.0, 3.0, 4.0], &[1, 1, 2, 2]));
    let settings = ConvSettings { stride: [2, 2], ..Default::default() };
    let y = x.conv2d(&w, None, settings).unwrap();
    assert_eq!(y.value().shape()[..], [1, 1, 2, 3]);
    let got = grads(&y, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[&x, &w]);
    let rows: [[f64; 6]; 5] = [
        [1.0, 2.0, 2.0, 4.0, 3.0, 6.0],
        [3.0, 4.0, 6.0, 8.0, 9.0, 12.0],
        [4.0, 8.0, 5.0, 10.0, 6.0, 12.0],
        [12.0, 16.0, 15.0, 20.0, 18.0, 24.0],
        [0.0; 6],
    ];
    assert_eq!(got[0], rows.concat());
    for (got, want) in got[1].iter().zip([25.1, 27.2, 37.7, 39.8]) {
        assert!((got - want).abs() < 1e-12, "{got} {want}");
    }
    let (x, w) = (leaf(&[1.0; 7], &[1, 1, 7]), leaf(&[1.0, 2.0, 3.0, 4.0], &[1, 1, 4]));
    let y = x.conv1d(&w, None, ConvSettings { stride: [4], ..Default::default() }).unwrap();
    assert_eq!(grads(&y, &[1.0], &[&x])[0], [1.0, 2.0, 3.0, 4.0, 0.0, 0.0, 0.0]);
    let wide = ConvSettings { stride: [2, 2], padding: [3, 3], ..Default::default() };
    check("k7 s2 p3", &[input(&[1, 1, 9, 8], 0.1), input(&[2, 1, 7, 7], 0.5)], |v| {
        v[0].conv2d(&v[1], None, wide)
    });
}

#[test]
fn a_max_pool_gives_the_whole_gradient_to_the_first_of_equals() {
    let pool = |values: &[f64]| {
        let x = leaf(values, &[1, 1, 2, 2]);
        let y = x.max_pool2d(Window::new([2, 2])).unwrap();
        (y.value().to_vec::<f64>().unwrap(), grads(&y, &[1.0], &[&x])[0].clone())
    };
    assert_eq!(pool(&[1.0, 2.0, 3.0, 4.0]), (vec![4.0], vec![0.0, 0.0, 0.0, 1.0]));
    assert_eq!(pool(&[4.0; 4]), (vec![4.0], vec![1.0, 0.0, 0.0, 0.0]));
    let (y, dx) = pool(&[1.0, f64::NAN, 9.0, f64::NAN]);
    assert!(y[0].is_nan());
    assert_eq!(dx, [0.0, 1.0, 0.0, 0.0]);
    // Each axis has a dilation of its own.
    let x = leaf(&(0..16).map(f64::from).collect::<Vec<_>>(), &[1, 1, 4, 4]);
    let strided = Window { stride: [1, 1], ..Window::new([2, 2]) };
    let wide = x.max_pool2d(Window { dilation: [1, 2], ..strided }).unwrap();
    assert_eq!(wide.value().shape()[..], [1, 1, 3, 2]);
    assert_eq!(wide.value().to_vec::<f64>().unwrap(), [6.0, 7.0, 10.0, 11.0, 14.0, 15.0]);
}

#[test]
fn an_upsampled_value_that_is_used_twice_adds_up_both_gradients() {
    for first in [true, false] {
        let x = leaf(&[1.0], &[1, 1, 1, 1]);
        let h = (&x * &x).unwrap();
        let up = h.upsample_nearest2d([2, 3]).unwrap().sum_all().unwrap();
        let other = h.sum_all().unwrap();
        let y = if first { &up + &other } else { &other + &up }.unwrap();
        assert_eq!(grads(&y, &[1.0], &[&x])[0], [14.0]);
    }
}

#[test]
fn halves_compute_in_f32_and_an_empty_batch_has_zero_gradients() {
    let half = |shape: &[usize]| {
        let (values, shape): Input = input(shape, 0.3);
        let x = Tensor::from_slice(&Device::cpu(), &values, &shape).unwrap();
        Var::leaf("x", x.cast(DType::F16).unwrap())
    };
    let f32s = |x: &Tensor| x.cast(DType::F32).unwrap().to_vec::<f32>().unwrap();
    let (x, w) = (half(&[2, 2, 4, 4]), half(&[3, 2, 3, 3]));
    let wide = |v: &Var| Var::constant(v.value().cast(DType::F32).unwrap());
    let y = x.conv2d(&w, None, Default::default()).unwrap();
    assert_eq!(y.value().dtype(), DType::F16);
    let want = wide(&x).conv2d(&wide(&w), None, Default::default()).unwrap();
    assert_eq!(f32s(y.value()), f32s(&want.value().cast(DType::F16).unwrap()));
    for pooled in [
        x.max_pool2d(Window::new([2, 2])),
        x.avg_pool2d(Window::new([2, 2]), true),
        x.upsample_bilinear2d([3, 3], false),
    ] {
        assert_eq!(pooled.unwrap().value().dtype(), DType::F16);
    }
    let (x, w) = (leaf(&[], &[0, 2, 4, 4]), leaf(&[1.0; 18], &[1, 2, 3, 3]));
    let b = leaf(&[1.0], &[1]);
    let y = x.conv2d(&w, Some(&b), Default::default()).unwrap();
    let y = y.max_pool2d(Window::new([2, 2])).unwrap().adaptive_avg_pool2d([1, 1]).unwrap();
    assert_eq!(y.value().shape()[..], [0, 1, 1, 1]);
    assert_eq!(grads(&y, &[], &[&x, &w, &b]), [vec![], vec![0.0; 18], vec![0.0]]);
}

#[test]
fn operands_that_do_not_fit_are_told_with_both_shapes_and_the_rule() {
    let (x, w) = (leaf(&[0.0; 32], &[1, 2, 4, 4]), leaf(&[0.0; 54], &[2, 3, 3, 3]));
    let says = |result: Result<Var>, parts: &[&str]| {
        let message = result.map(drop).unwrap_err().to_string();
        assert!(parts.iter().all(|part| message.contains(part)), "{message}");
    };
    let plain = ConvSettings::default();
    says(x.conv2d(&w, None, plain), &["conv2d", "[1, 2, 4, 4]", "[2, 3, 3, 3]", "axis 1"]);
    let fitting = leaf(&[0.0; 36], &[2, 2, 3, 3]);
    let groups = |groups| ConvSettings { groups, ..plain };
    says(x.conv2d(&fitting, None, groups(0)), &["groups must divide"]);
    says(x.conv2d(&fitting, None, groups(3)), &["groups must divide"]);
    let bias = leaf(&[0.0; 3], &[3]);
    says(x.conv2d(&fitting, Some(&bias), plain), &["[3]", "one number for each output channel"]);
    let far = ConvSettings { dilation: [2, 1], ..plain };
    says(x.conv2d(&fitting, None, far), &["dilation", "must not exceed", "[2, 2, 3, 3]"]);
    says(x.conv2d(&fitting, None, ConvSettings { stride: [1, 0], ..plain }), &["at least 1"]);
    says(x.conv1d(&fitting, None, Default::default()), &["conv1d", "[samples, channels, length]"]);
    says(x.conv_transpose2d(&w, None, plain, [1, 0]), &["output padding is less"]);
    says(x.conv_transpose2d(&bias, None, plain, [0, 0]), &["conv_transpose2d", "a weight is"]);
    let padded = |padding| Window { padding, ..Window::new([2, 2]) };
    says(x.max_pool2d(padded([2, 0])), &["max_pool2d", "[2, 2]", "at most half"]);
    says(x.max_pool2d(Window::new([5, 1])), &["max_pool2d", "must not exceed"]);
    let dilated = Window { dilation: [2, 2], ..Window::new([2, 2]) };
    says(x.avg_pool2d(dilated, true), &["avg_pool2d", "no dilation"]);
    says(x.adaptive_avg_pool2d([0, 2]), &["adaptive_avg_pool2d", "at least one row"]);
    says(leaf(&[], &[1, 0, 2, 2]).upsample_nearest2d([4, 4]), &["no axis but the samples'"]);
}
