//! What every operation has to pass: its gradient agrees with central differences; views equal
//! their contiguous copies, and many threads equal one, bit for bit; a batch is the sum of its
//! samples, and its rows are those of its parts.

// Each test program uses a part of it.
#![allow(dead_code)]

use ringgrad_autograd::{Error, Result, Var, gradcheck, gradcheck_twice};
use tensor::{DType, Device, Tensor};

/// Values and shape of an input.
pub(crate) type Input = (Vec<f64>, Vec<usize>);

/// Distinct numbers in (−2, 2) that avoid 0 and each other's ties.
pub(crate) fn spread(n: usize, phase: f64) -> Vec<f64> {
    (0..n).map(|i| 1.9 * (1.7 * i as f64 + phase).sin() + 0.013).collect()
}

/// Distinct numbers in (0.3, 2.3).
pub(crate) fn positive(n: usize, phase: f64) -> Vec<f64> {
    spread(n, phase).iter().map(|x| x.abs() + 0.3).collect()
}

/// An input of [`spread`] numbers.
pub(crate) fn input(shape: &[usize], phase: f64) -> Input {
    (spread(shape.iter().product(), phase), shape.to_vec())
}

/// An input of [`positive`] numbers.
pub(crate) fn positive_input(shape: &[usize], phase: f64) -> Input {
    (positive(shape.iter().product(), phase), shape.to_vec())
}

/// A scalar that weighs every element of `y` differently.
pub(crate) fn weighed(y: &Var) -> Result<Var> {
    let weights = spread(y.value().numel(), 0.9);
    let weights = Tensor::from_slice(y.value().device(), &weights, y.value().shape())?;
    (y * &Var::constant(weights.cast(y.value().dtype())?))?.sum_all()
}

/// How the elements of an input lie in memory.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Lie {
    /// Row-major.
    Contiguous,
    /// The axes in reverse order in memory.
    Reversed,
    /// Every other element along the last axis of something larger, behind an offset.
    Gapped,
}

/// The input as a tensor that lies in memory as `lie` says.
fn laid(device: &Device, (values, shape): &Input, dtype: DType, lie: Lie) -> Tensor {
    let x = Tensor::from_slice(device, values, shape).unwrap().cast(dtype).unwrap();
    let axes: Vec<usize> = (0..shape.len()).rev().collect();
    match lie {
        _ if shape.is_empty() || x.numel() == 0 => x,
        Lie::Contiguous => x,
        Lie::Reversed => {
            let moved = x.permute(&axes).unwrap().contiguous().unwrap();
            moved.permute(&axes).unwrap()
        }
        Lie::Gapped => {
            let mut wide = shape.clone();
            wide.push(3);
            let copies = x.reshape(&[shape.as_slice(), &[1]].concat()).unwrap();
            let copies = copies.broadcast_to(&wide).unwrap().contiguous().unwrap();
            copies.narrow(shape.len(), 1, 1).unwrap().reshape(shape).unwrap_or(x)
        }
    }
}

/// The bits of the value and of every input's gradient.
fn bits(leaves: &[Var], f: &dyn Fn(&[Var]) -> Result<Var>) -> Vec<Vec<u64>> {
    let y = f(leaves).unwrap();
    let grads = weighed(&y).unwrap().backward().unwrap();
    let all = leaves.iter().map(|leaf| grads.get(leaf).unwrap().clone());
    std::iter::once(y.value().clone()).chain(all).map(|x| tensor_bits(&x)).collect()
}

/// The elements' bits in f64, which holds those of every float type.
pub(crate) fn tensor_bits(x: &Tensor) -> Vec<u64> {
    let values = x.cast(DType::F64).unwrap().to_vec::<f64>().unwrap();
    values.iter().map(|x| if x.is_nan() { f64::NAN } else { *x }.to_bits()).collect()
}

/// The operations that have a first derivative only; docs/SEMANTICS.md lists them too.
const ONCE: [&str; 9] = [
    "prod",
    "cumprod",
    "sort",
    "topk",
    "masked_select",
    "max_pool1d",
    "max_pool2d",
    "group_norm",
    "batch_norm",
];

/// The second derivatives agree with central differences, or are refused by a listed operation.
fn check_twice(name: &str, inputs: &[Input], f: impl Fn(&[Var]) -> Result<Var>) {
    match gradcheck_twice(inputs, |x| weighed(&f(x)?)) {
        Ok(mismatches) => assert_eq!(mismatches, [], "{name}: second derivatives"),
        Err(Error::NotTwiceDifferentiable { op }) => {
            assert!(ONCE.contains(&op), "{name}: {op} has no second derivative");
        }
        Err(error) => panic!("{name}: {error}"),
    }
}

/// Everything that holds for any operation. `f` is a function of all `inputs`, away from kinks.
pub(crate) fn check(name: &str, inputs: &[Input], f: impl Fn(&[Var]) -> Result<Var>) {
    let mismatches = gradcheck(inputs, |x| weighed(&f(x)?)).unwrap();
    assert_eq!(mismatches, [], "{name}: gradients");
    check_twice(name, inputs, &f);
    let one = Device::cpu();
    let many = Device::cpu_with_threads(3).unwrap();
    for dtype in [DType::F32, DType::F64] {
        let run = |device: &Device, lie| {
            let leaf = |input| Var::leaf("x", laid(device, input, dtype, lie));
            bits(&inputs.iter().map(leaf).collect::<Vec<_>>(), &f)
        };
        let plain = run(&one, Lie::Contiguous);
        for lie in [Lie::Reversed, Lie::Gapped] {
            assert_eq!(run(&one, lie), plain, "{name}: {dtype} {lie:?} in memory");
        }
        assert_eq!(run(&many, Lie::Contiguous), plain, "{name}: {dtype} with three threads");
    }
}

/// [`check`] for an operation whose outputs and first `batched` inputs are `[samples, ..]`: also,
/// rows are those of the parts bit for bit, and gradients of the other inputs are the sum of those
/// of single samples.
pub(crate) fn check_batched(
    name: &str,
    inputs: &[Input],
    batched: usize,
    f: impl Fn(&[Var]) -> Result<Var>,
) {
    check(name, inputs, &f);
    let device = Device::cpu();
    let samples = inputs[0].1[0];
    let leaves = |rows: std::ops::Range<usize>| -> Vec<Var> {
        let leaf = |(i, input): (usize, &Input)| {
            let x = laid(&device, input, DType::F64, Lie::Contiguous);
            let x = if i < batched { x.narrow(0, rows.start, rows.len()).unwrap() } else { x };
            Var::leaf("x", x)
        };
        inputs.iter().enumerate().map(leaf).collect()
    };
    let seed = {
        let y = f(&leaves(0..samples)).unwrap();
        let shape = y.value().shape().to_vec();
        Tensor::from_slice(&device, &spread(y.value().numel(), 0.9), &shape).unwrap()
    };
    let run = |rows: std::ops::Range<usize>| {
        let leaves = leaves(rows.clone());
        let y = f(&leaves).unwrap();
        assert_eq!(y.value().shape()[0], rows.len(), "{name}: the output has a row a sample");
        let seed = Var::constant(seed.narrow(0, rows.start, rows.len()).unwrap());
        let grads = (&y * &seed).unwrap().sum_all().unwrap().backward().unwrap();
        let grads: Vec<Vec<f64>> =
            leaves.iter().map(|leaf| grads.get(leaf).unwrap().to_vec().unwrap()).collect();
        (tensor_bits(y.value()), grads)
    };
    let (whole, grads) = run(0..samples);
    let parts: Vec<_> = (0..samples).map(|row| run(row..row + 1)).collect();
    let rows: Vec<u64> = parts.iter().flat_map(|(rows, _)| rows.clone()).collect();
    assert_eq!(rows, whole, "{name}: rows of parts");
    for (i, grad) in grads.iter().enumerate() {
        if i < batched {
            let rows: Vec<f64> = parts.iter().flat_map(|(_, grads)| grads[i].clone()).collect();
            assert_eq!(&rows, grad, "{name}: input {i}, gradients of parts");
            continue;
        }
        for (element, &whole) in grad.iter().enumerate() {
            let terms = parts.iter().map(|(_, grads)| grads[i][element]);
            let (sum, size) = terms.fold((0.0, 0.0f64), |(s, m), x| (s + x, m + x.abs()));
            let near = (whole - sum).abs() <= 1e-13 * size.max(1e-300);
            assert!(near, "{name}: input {i}, element {element}: {whole} against {sum}");
        }
    }
}
