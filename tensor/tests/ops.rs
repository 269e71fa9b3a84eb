//! The operations as a user calls them: shapes, views, empty tensors, types, and what errors say.

use ringgrad_tensor::{BinaryOp, DType, Device, Error, Shape, Tensor, TensorMut};

fn f32s(values: &[f32], shape: &[usize]) -> Tensor {
    Tensor::from_slice(&Device::cpu(), values, shape).unwrap()
}

fn i64s(values: &[i64], shape: &[usize]) -> Tensor {
    Tensor::from_slice(&Device::cpu(), values, shape).unwrap()
}

fn values(x: &Tensor) -> Vec<f32> {
    x.to_vec().unwrap()
}

fn assert_says(error: Error, parts: &[&str]) {
    let message = error.to_string();
    assert!(parts.iter().all(|part| message.contains(part)), "{message}");
}

#[test]
fn operators_broadcast_and_read_views_in_place() {
    let x = f32s(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[2, 3]);
    let column = f32s(&[10.0, 20.0], &[2, 1]);
    assert_eq!(values(&(&x - &column).unwrap()), [-9.0, -8.0, -7.0, -16.0, -15.0, -14.0]);
    let t = x.transpose(0, 1).unwrap();
    assert_eq!(values(&(&t * &t).unwrap()), [1.0, 16.0, 4.0, 25.0, 9.0, 36.0]);
    let half = f32s(&[0.5], &[]);
    assert_eq!(values(&(&t / &half).unwrap()), [2.0, 8.0, 4.0, 10.0, 6.0, 12.0]);
    let max = x.binary(BinaryOp::Max, &f32s(&[3.0, 3.0, 3.0], &[3])).unwrap();
    assert_eq!(values(&max), [3.0, 3.0, 3.0, 4.0, 5.0, 6.0]);
}

#[test]
fn a_reversed_product_and_a_transposed_left_operand_are_right() {
    // Asymmetric on purpose: exchanging operands or axes changes the result.
    let a = f32s(&[0.7, -1.3, 2.1, -0.4, 1.9, -3.2], &[2, 3]);
    let ones = f32s(&[1.0; 4], &[2, 2]);
    let product = a.transpose(0, 1).unwrap().matmul(&ones).unwrap();
    let want = [0.3, 0.3, 0.6, 0.6, -1.1, -1.1];
    assert!(values(&product).iter().zip(want).all(|(x, w)| (x - w).abs() < 1e-6));
    let row = f32s(&[0.0; 32], &[1, 8, 4]).narrow(1, 7, 1).unwrap().reshape(&[1, 4]).unwrap();
    assert_eq!(row.matmul(&f32s(&[1.0; 8], &[4, 2])).unwrap().shape()[..], [1, 2]);
    let repeated = f32s(&[2.0], &[1, 1]).broadcast_to(&[3, 2]).unwrap();
    let ones = f32s(&[1.0, 1.0], &[2, 1]);
    assert_eq!(values(&repeated.matmul(&ones).unwrap()), [4.0, 4.0, 4.0]);
}

#[test]
fn empty_operands_give_empty_results_and_empty_sums_are_zero() {
    let none = f32s(&[], &[0]);
    assert_eq!((&none + &f32s(&[1.0], &[1])).unwrap().shape()[..], [0]);
    assert_eq!(values(&none.sum_all().unwrap()), [0.0]);
    assert_eq!(values(&f32s(&[], &[0, 3]).sum(0, false).unwrap()), [0.0; 3]);
    assert_eq!(f32s(&[], &[3, 0]).sum(1, true).unwrap().shape()[..], [3, 1]);
    assert_eq!(f32s(&[], &[0, 3]).matmul(&f32s(&[0.0; 12], &[3, 4])).unwrap().shape()[..], [0, 4]);
    assert_eq!(values(&f32s(&[], &[2, 0]).matmul(&f32s(&[], &[0, 2])).unwrap()), [0.0; 4]);
    assert_eq!(none.relu().unwrap().numel(), 0);
    let logits = f32s(&[], &[0, 3]);
    assert_eq!(logits.cross_entropy(&i64s(&[], &[0])).unwrap().0.numel(), 0);
    let linear = logits.linear(&f32s(&[0.0; 6], &[2, 3]), Some(&f32s(&[0.0; 2], &[2])));
    assert_eq!(linear.unwrap().shape()[..], [0, 2]);
}

#[test]
fn sums_name_their_axis_and_undo_a_broadcast() {
    let x = f32s(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[1, 2, 3]);
    assert_eq!(values(&x.sum(1, false).unwrap()), [5.0, 7.0, 9.0]);
    assert_eq!(values(&x.sum(2, true).unwrap()), [6.0, 15.0]);
    assert_eq!(values(&x.transpose(1, 2).unwrap().sum(1, false).unwrap()), [6.0, 15.0]);
    let shape = |lens: &[usize]| Shape::new("test", lens).unwrap();
    assert_eq!(values(&x.sum_to(&shape(&[3])).unwrap()), [5.0, 7.0, 9.0]);
    assert_eq!(values(&x.sum_to(&shape(&[2, 1])).unwrap()), [6.0, 15.0]);
    assert_eq!(values(&x.sum_to(&Shape::SCALAR).unwrap()), [21.0]);
    assert_eq!(values(&x.sum_to(x.shape()).unwrap()), values(&x));
    assert_says(x.sum_to(&shape(&[2])).unwrap_err(), &["sum_to", "[1, 2, 3]", "[2]"]);
}

#[test]
fn casts_round_saturate_and_keep_special_values() {
    let x = f32s(&[1.5, -2.7, 300.0, -5.0, f32::NAN, f32::INFINITY], &[6]);
    let as_i64: Vec<i64> = x.cast(DType::I64).unwrap().to_vec().unwrap();
    assert_eq!(as_i64, [1, -2, 300, -5, 0, i64::MAX]);
    let as_u8: Vec<u8> = x.cast(DType::U8).unwrap().to_vec().unwrap();
    assert_eq!(as_u8, [1, 0, 255, 0, 0, 255]);
    let f64s: Vec<f64> = x.cast(DType::F64).unwrap().to_vec().unwrap();
    assert!(f64s[4].is_nan() && f64s[5] == f64::INFINITY && f64s[1] == f64::from(-2.7f32));
    for half in [DType::F16, DType::BF16] {
        let back = x.cast(half).unwrap().cast(DType::F32).unwrap();
        assert_eq!(values(&back)[0], 1.5);
    }
    let large = i64s(&[(1 << 53) + 1, i64::MIN], &[2]);
    assert_eq!(large.cast(DType::I64).unwrap().to_vec::<i64>().unwrap(), [(1 << 53) + 1, i64::MIN]);
}

#[test]
fn argmax_takes_the_first_of_equals_and_sees_nan() {
    let x = f32s(&[1.0, 3.0, 3.0, 5.0, f32::NAN, 7.0], &[2, 3]);
    assert_eq!(x.argmax(1, false).unwrap().to_vec::<i64>().unwrap(), [1, 1]);
    assert_says(
        f32s(&[], &[2, 0]).argmax(1, false).unwrap_err(),
        &["argmax", "[2, 0]", "not be empty"],
    );
}

#[test]
fn cross_entropy_is_right_at_the_edges_and_refuses_foreign_classes() {
    let logits = f32s(&[0.0, 0.0, 1000.0, -1000.0], &[2, 2]);
    let (losses, softmax) = logits.cross_entropy(&i64s(&[0, 0], &[2])).unwrap();
    assert!((values(&losses)[0] - 2f32.ln()).abs() < 1e-6);
    assert_eq!((values(&losses)[1], &values(&softmax)[2..]), (0.0, &[1.0, 0.0][..]));
    let (wrong, _) = logits.cross_entropy(&i64s(&[0, 1], &[2])).unwrap();
    assert_eq!(values(&wrong)[1], 2000.0);
    for class in [2, -1] {
        let error = logits.cross_entropy(&i64s(&[0, class], &[2])).unwrap_err();
        let message = ["cross_entropy", "row 1", &format!("class {class}"), "2 classes"];
        assert_says(error, &message);
    }
    let error = logits.cross_entropy(&i64s(&[0], &[1])).unwrap_err();
    assert_says(error, &["[2, 2]", "[1]"]);
}

#[test]
fn mistakes_are_errors_with_operation_shapes_and_rule() {
    let (a, b) = (f32s(&[0.0; 6], &[2, 3]), f32s(&[0.0; 2], &[2]));
    assert_says((&a + &b).unwrap_err(), &["add", "[2, 3]", "[2]", "one of them 1"]);
    assert_says(a.matmul(&a).unwrap_err(), &["matmul", "[2, 3]", "axis 1", "axis 0"]);
    assert_says(a.matmul(&b).unwrap_err(), &["matmul", "[2]", "axis 0 of the right"]);
    assert_says(a.matmul(&i64s(&[1], &[1, 1])).unwrap_err(), &["matmul", "[2, 3]", "[1, 1]"]);
    assert_says(a.linear(&b, None).unwrap_err(), &["linear", "[2, 3]", "[2]", "[out, in]"]);
    assert_says(a.linear(&a, Some(&f32s(&[0.0; 3], &[3]))).unwrap_err(), &["bias", "[3]"]);
    assert_says(a.item::<f32>().unwrap_err(), &["item", "exactly one"]);
    assert_says(a.to_vec::<f64>().unwrap_err(), &["to_vec", "f32", "f64"]);
    assert_says(Tensor::from_vec(&Device::cpu(), vec![1u8], &[2]).unwrap_err(), &["1", "[2]"]);
    assert_says(a.sum(2, false).unwrap_err(), &["sum", "axis 2", "[2, 3]"]);
}

#[test]
fn a_result_can_be_written_into_a_foreign_buffer_of_its_shape_only() {
    let (a, b) = (f32s(&[1.0, 2.0], &[1, 2]), f32s(&[3.0, 5.0, 7.0, 11.0], &[2, 2]));
    let mut place = [f32::NAN; 2];
    let shape = Shape::new("test", &[1, 2]).unwrap();
    a.matmul_into(&b, &mut TensorMut::new(&mut place, shape).unwrap()).unwrap();
    assert_eq!(place, [17.0, 27.0]);
    let flat = Shape::new("test", &[2]).unwrap();
    b.sum_rows_into(&mut TensorMut::new(&mut place, flat).unwrap()).unwrap();
    assert_eq!(place, [10.0, 16.0]);
    let wrong = a.matmul_into(&b, &mut TensorMut::new(&mut place, flat).unwrap());
    assert_says(wrong.unwrap_err(), &["matmul", "[1, 2]", "[2]", "destination"]);
    assert!(TensorMut::new(&mut place, Shape::SCALAR).is_err());
    let mut other = [0.0f64; 2];
    assert!(a.matmul_into(&b, &mut TensorMut::new(&mut other, shape).unwrap()).is_err());
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let run = |threads: usize| {
        let device = Device::cpu_with_threads(threads).unwrap();
        let numbers = |n: usize| (0..n).map(|i| ((i * 7919) % 1013) as f32 / 97.0 - 5.0).collect();
        let a = Tensor::from_vec(&device, numbers(200 * 300), &[200, 300]).unwrap();
        let b = Tensor::from_vec(&device, numbers(300 * 250), &[300, 250]).unwrap();
        let y = (&a.matmul(&b).unwrap().exp().unwrap() + &b.sum(0, true).unwrap()).unwrap();
        values(&y.sum(0, false).unwrap()).iter().map(|x| x.to_bits()).collect::<Vec<_>>()
    };
    let one = run(1);
    assert!((2..=4).all(|threads| run(threads) == one));
}
