//! Faults that users of other engines reported, as values. Further ones stand beside the operations
//! that they are about, in `ops.rs` and `reductions.rs`.

use ringgrad_tensor::{ConvSettings, DType, Device, Tensor, Window};

fn tensor(values: &[f32], shape: &[usize]) -> Tensor {
    Tensor::from_slice(&Device::cpu(), values, shape).unwrap()
}

fn values(x: &Tensor) -> Vec<f32> {
    x.to_vec().unwrap()
}

fn bits(x: &Tensor) -> Vec<u32> {
    values(x).iter().map(|x| x.to_bits()).collect()
}

#[test]
fn zeros_of_two_signs_in_extremes() {
    let (minus, plus) = (tensor(&[-0.0, 0.0], &[2]), tensor(&[0.0, -0.0], &[2]));
    assert_eq!(bits(&minus.maximum(&plus).unwrap()), [0.0f32.to_bits(); 2]);
    assert_eq!(bits(&minus.minimum(&plus).unwrap()), [(-0.0f32).to_bits(); 2]);
}

#[test]
fn a_row_that_is_masked_as_a_whole() {
    let hidden = f32::NEG_INFINITY;
    let x = tensor(&[hidden, hidden, 0.0, hidden], &[2, 2]);
    for y in [x.softmax(1).unwrap(), x.log_softmax(1).unwrap().exp().unwrap()] {
        let y = values(&y);
        assert!(y[0].is_nan() && y[1].is_nan(), "{y:?}");
        assert_eq!(y[2..], [1.0, 0.0]);
    }
}

#[test]
fn padding_that_hides_an_infinite_weight() {
    let mut kernel = [0.0; 9];
    kernel[4] = 1.0;
    kernel[0] = f32::NEG_INFINITY;
    let (x, w) = (tensor(&[1.0; 9], &[1, 1, 3, 3]), tensor(&kernel, &[1, 1, 3, 3]));
    let padded = ConvSettings { padding: [1, 1], ..Default::default() };
    let y = values(&x.conv2d(&w, None, padded).unwrap());
    // Outputs of the upper row and the left column see padding through the infinite weight.
    for (i, y) in y.into_iter().enumerate() {
        let border = i < 3 || i % 3 == 0;
        assert!(if border { y.is_nan() } else { y == f32::NEG_INFINITY }, "output {i} is {y}");
    }
}

#[test]
fn the_second_dilation_of_a_pool() {
    let x = tensor(&(0..16).map(|i| i as f32).collect::<Vec<_>>(), &[1, 1, 4, 4]);
    let pool = |dilation| {
        let window = Window { stride: [1, 1], dilation, ..Window::new([2, 2]) };
        let y = x.max_pool2d(window).unwrap();
        (y.shape().to_vec(), values(&y))
    };
    assert_eq!(pool([1, 1]).0, [1, 1, 3, 3]);
    assert_eq!(pool([1, 2]), (vec![1, 1, 3, 2], vec![6.0, 7.0, 10.0, 11.0, 14.0, 15.0]));
}

#[test]
fn products_that_refuse_views() {
    let x = Tensor::zeros(&Device::cpu(), DType::F32, &[1, 8, 4]).unwrap();
    let w = tensor(&[1.0; 12], &[3, 4]);
    let y = x.select(1, 7).unwrap().matmul(&w.transpose(0, 1).unwrap()).unwrap();
    assert_eq!((&y.shape()[..], values(&y)), (&[1, 3][..], vec![0.0; 3]));
    let ones = tensor(&[1.0], &[]).broadcast_to(&[2, 4]).unwrap();
    let y = ones.matmul(&w.transpose(0, 1).unwrap()).unwrap();
    assert_eq!(values(&y), [4.0; 6]);
}

#[test]
fn parts_and_operands_without_elements() {
    let (whole, none) = (tensor(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[2, 3]), tensor(&[], &[2, 0]));
    let all = Tensor::cat(&[&whole, &none], 1).unwrap();
    assert_eq!((&all.shape()[..], values(&all)), (&[2, 3][..], values(&whole)));
    let sum = (&tensor(&[], &[0]) + &tensor(&[1.0], &[1])).unwrap();
    assert_eq!(sum.shape()[..], [0]);
}
