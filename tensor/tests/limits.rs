//! Shapes that no memory holds, and what errors say: nothing a caller asks for ends the process.

use ringgrad_tensor::{BinaryOp, DType, Device, Error, Result, Shape, Side, Tensor, UnaryOp};

/// Eight bytes each would be more than `isize::MAX` when rounded up to a power of two.
const HUGE: usize = (1 << 59) + 1;

fn zeros(shape: &[usize]) -> Tensor {
    Tensor::zeros(&Device::cpu(), DType::F64, shape).unwrap()
}

/// One number, repeated without memory.
fn repeated(shape: &[usize]) -> Tensor {
    Tensor::scalar(&Device::cpu(), 1.0f64).broadcast_to(shape).unwrap()
}

fn assert_says<T>(result: Result<T>, parts: &[&str]) {
    let message = result.err().expect("an error").to_string();
    assert!(parts.iter().all(|part| message.contains(part)), "{message}");
}

#[test]
fn a_result_that_no_memory_holds_is_an_error_with_its_operation_and_bytes() {
    let no_memory = |op: &str, result: Result<Tensor>| {
        let error = result.expect_err(op);
        assert!(matches!(error, Error::Memory { .. }), "{op}: {error}");
        assert!(error.to_string().starts_with(&format!("{op}: a tensor ")), "{op}: {error}");
    };
    let device = Device::cpu();
    for dtype in DType::ALL {
        let largest = usize::MAX / 16;
        no_memory("zeros", Tensor::zeros(&device, dtype, &[largest]));
    }
    no_memory("full", Tensor::full(&device, 2.0f64, &[HUGE]));
    let (empty, view) = (zeros(&[HUGE, 0]), repeated(&[HUGE]));
    no_memory("sum", empty.sum(1, false));
    no_memory("sum", empty.sum(1, true));
    no_memory("sum_to", empty.sum_to(&Shape::new("test", &[HUGE, 1]).unwrap()));
    no_memory("linear", empty.linear(&zeros(&[1, 0]), None));
    no_memory("linear", zeros(&[0]).linear(&empty, Some(&view)));
    no_memory("matmul", empty.matmul(&zeros(&[0, 1])));
    no_memory("contiguous", view.contiguous());
    no_memory("reshape", view.reshape(&[1, HUGE]));
    no_memory("add", &view + &view);
    no_memory("exp", view.unary(UnaryOp::Exp));
    no_memory("exp_vjp", view.unary_vjp(UnaryOp::Exp, &view, &view));
    no_memory("mul_vjp", view.binary_vjp(BinaryOp::Mul, Side::Left, &view, &view));
    no_memory("sum_all", view.sum_all());
    no_memory("cast", view.cast(DType::F32));
    no_memory("argmax", view.argmax(0, false));
    no_memory("cross_entropy", repeated(&[1, HUGE]).cross_entropy(&target()).map(|pair| pair.0));
    let narrow = Tensor::zeros(&device, DType::F32, &[(1 << 60) - 1, 0]).unwrap();
    no_memory("sum", narrow.sum(1, false));
    assert_says(view.to_vec::<f64>(), &["to_vec", "4611686018427387912 bytes", "smaller shape"]);
    assert_eq!(device.live_bytes(), 0);
}

fn target() -> Tensor {
    Tensor::from_vec(&Device::cpu(), vec![0i64], &[1]).unwrap()
}

#[test]
fn empty_results_of_huge_operands_need_no_memory() {
    let (tall, wide) = (zeros(&[HUGE, 0]), zeros(&[0, HUGE]));
    assert_eq!(tall.sum(0, false).unwrap().shape()[..], [0]);
    assert_eq!(wide.sum(1, false).unwrap().shape()[..], [0]);
    assert_eq!(tall.sum_all().unwrap().item::<f64>().unwrap(), 0.0);
    assert_eq!(tall.matmul(&zeros(&[0, 0])).unwrap().shape()[..], [HUGE, 0]);
    assert_eq!(wide.matmul(&tall).unwrap().shape()[..], [0, 0]);
    assert_eq!(wide.matmul(&repeated(&[HUGE, 1])).unwrap().shape()[..], [0, 1]);
    assert_eq!((&tall + &tall).unwrap().shape()[..], [HUGE, 0]);
    assert_eq!(wide.relu().unwrap().reshape(&[HUGE, 0]).unwrap().numel(), 0);
    assert_eq!(tall.cast(DType::U8).unwrap().to_vec::<u8>().unwrap(), []);
    assert_eq!(tall.transpose(0, 1).unwrap().contiguous().unwrap().numel(), 0);
}

#[test]
fn every_empty_view_is_contiguous_whichever_axis_has_the_gap() {
    let x = zeros(&[2, 3]);
    let empty = x.narrow(1, 0, 2).unwrap().narrow(0, 0, 0).unwrap();
    assert!(empty.layout().is_contiguous());
    assert_eq!(empty.as_slice::<f64>(), Some(&[][..]));
    assert_eq!(empty.reshape(&[5, 0]).unwrap().to_vec::<f64>().unwrap(), []);
    assert!(!x.narrow(1, 0, 2).unwrap().layout().is_contiguous());
    assert!(x.narrow(0, 1, 1).unwrap().layout().is_contiguous());
}

#[test]
fn a_range_beyond_an_axis_is_told_with_both_its_ends() {
    let x = zeros(&[2, 3]);
    assert_says(x.narrow(1, 3, 1), &["narrow: elements 3..4", "axis 1 has 0..3"]);
    assert_says(x.narrow(0, 1, 5), &["elements 1..6", "axis 0 has 0..2"]);
    assert_says(
        x.narrow(1, usize::MAX, 2),
        &["elements 18446744073709551615..18446744073709551617"],
    );
    assert_eq!(x.narrow(1, 3, 0).unwrap().numel(), 0);
}

#[test]
fn an_error_names_the_operation_that_was_called() {
    let device = Device::cpu();
    let single = Tensor::full(&device, 1.0f32, &[2]).unwrap();
    let double = Tensor::full(&device, 1.0f64, &[2]).unwrap();
    let byte = Tensor::full(&device, 1u8, &[2]).unwrap();
    let differ = "element types f32 and f64 differ";
    let relu = UnaryOp::Relu;
    assert_says(single.unary_vjp(relu, &double, &single), &["relu_vjp: ", differ]);
    assert_says(single.unary_vjp(relu, &single, &double), &["relu_vjp: ", differ]);
    assert_says(byte.unary_vjp(relu, &byte, &byte), &["relu_vjp: ", "type u8", "f32 or f64"]);
    let (add, left) = (BinaryOp::Add, Side::Left);
    assert_says(single.binary_vjp(add, left, &single, &double), &["add_vjp: ", differ]);
    assert_says(single.binary_vjp(add, left, &double, &single), &["add_vjp: ", differ]);
    assert_says(byte.binary_vjp(add, left, &byte, &byte), &["add_vjp: ", "type u8"]);
    assert_says(byte.sum_to(&Shape::SCALAR), &["sum_to: ", "type u8"]);
    assert_says(byte.reshape(&[1, 2]).unwrap().sum_to(byte.shape()), &["sum_to: ", "type u8"]);
    assert_says(byte.reshape(&[2, 1]).unwrap().sum_to(byte.shape()), &["sum_to: ", "do not fit"]);
    let one = Shape::new("test", &[1]).unwrap();
    assert_says(byte.sum_to(&one), &["sum_to: ", "type u8"]);
    assert_says(byte.mean(.., false), &["mean: ", "type u8", "floats"]);
    let softmax = Tensor::full(&device, 0.5f32, &[1, 2]).unwrap();
    let vjp = |dy: &Tensor| softmax.cross_entropy_vjp(&target(), dy);
    assert_says(vjp(&Tensor::scalar(&device, 1.0f64)), &["cross_entropy_vjp: ", differ]);
    assert_says(vjp(&single), &["cross_entropy_vjp: ", "[2]", "one element"]);
}

#[test]
fn integers_saturate_and_large_ones_go_by_way_of_f64() {
    let device = Device::cpu();
    let wide = vec![i64::MAX, i64::MIN, -1, 300, 255, 7];
    let wide = Tensor::from_vec(&device, wide, &[6]).unwrap();
    assert_eq!(wide.cast(DType::U8).unwrap().to_vec::<u8>().unwrap(), [255, 0, 0, 255, 255, 7]);
    // Just above the tie between two f32, by less than an f64 holds there: the f64 is the tie.
    let above_tie = (1i64 << 60) + (1 << 36) + 1;
    let x = Tensor::from_vec(&device, vec![above_tie, (1 << 24) + 1], &[2]).unwrap();
    let rounded = x.cast(DType::F32).unwrap().to_vec::<f32>().unwrap();
    assert_eq!(rounded, [2f32.powi(60), 2f32.powi(24)]);
    assert_ne!(above_tie as f32, rounded[0]);
    let half = Tensor::scalar(&device, 1.0 + 2f64.powi(-11) + 2f64.powi(-40));
    let half = half.cast(DType::F16).unwrap().cast(DType::F64).unwrap();
    assert_eq!(half.item::<f64>().unwrap(), 1.0 + 2f64.powi(-10));
}
