//! Gradients against central differences: how an operation of one's own is tested.
//!
//! # Method
//! The derivative along one element is compared with `(f(x + h) − f(x − h)) / 2h`, in f64, with
//! `h = 1e-6 · max(1, |x|)`. Truncation costs about h², rounding about 1e-16 / h, so a right
//! gradient agrees to about 1e-9 relative (Nocedal and Wright 2006, "Numerical Optimization",
//! section 8.1). The tolerance is 1e-6 relative plus 1e-8 absolute: below what a wrong factor,
//! index or sign costs, and above what rounding does. NaN on either side is a mismatch.
//!
//! # What is checked
//! Every input, every element. An input that shall not be checked is captured by `f` as a constant;
//! so are integers. `f` must be smooth within h of its inputs: keep them away from kinks and ties.

use tensor::{Device, Tensor};

use crate::error::Result;
use crate::order::Order;
use crate::second_order::{gradients_from, some};
use crate::var::Var;

/// Where an analytic gradient and the central difference disagree.
#[derive(Clone, Debug, PartialEq)]
pub struct Mismatch {
    /// Which input.
    pub input: usize,
    /// Which of its elements, in row-major order.
    pub element: usize,
    /// What the vjps say.
    pub analytic: f64,
    /// What central differences say.
    pub numeric: f64,
}

/// Compares the gradient of the scalar `f(inputs)` with central differences, element by element,
/// and returns every disagreement. `inputs` are f64 values and shapes; keep them away from kinks.
///
/// ```
/// use ringgrad_autograd::{InputGrads, Op, Result, Var, gradcheck};
/// use tensor::{Device, Tensor};
///
/// /// y = 2x with a vjp that says 3.
/// struct Wrong;
///
/// impl Op for Wrong {
///     fn name(&self) -> &'static str {
///         "wrong"
///     }
///     fn vjp(&self, dy: &Tensor, grads: &mut InputGrads<'_>) -> Result<()> {
///         grads.give(0, (dy * &Tensor::scalar(dy.device(), 3.0f64))?)
///     }
/// }
///
/// # fn main() -> Result<()> {
/// let input = || (vec![0.5, -1.0], vec![2]);
/// let right = gradcheck(&[input()], |x| (&x[0] + &x[0])?.sum_all())?;
/// assert_eq!(right, []);
///
/// let mismatches = gradcheck(&[input()], |x| {
///     let y = (x[0].value() + x[0].value())?;
///     Var::from_op(y, &[&x[0]], Wrong).sum_all()
/// })?;
/// assert_eq!(mismatches.len(), 2);
/// assert_eq!((mismatches[1].element, mismatches[1].analytic), (1, 3.0));
/// assert!((mismatches[1].numeric - 2.0).abs() < 1e-8);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// A refused operation in `f`, or an `f` that is not a scalar or leaves an input unused.
pub fn gradcheck(
    inputs: &[(Vec<f64>, Vec<usize>)],
    f: impl Fn(&[Var]) -> Result<Var>,
) -> Result<Vec<Mismatch>> {
    let leaves = leaves(inputs)?;
    let gradients = f(&leaves)?.backward()?;
    let analytic = leaves.iter().map(|leaf| Ok(gradients.get(leaf)?.to_vec()?));
    let value = |x: &[Var]| Ok(f(x)?.value().item::<f64>()?);
    compare(inputs, &analytic.collect::<Result<Vec<_>>>()?, value)
}

/// [`gradcheck`] one derivative higher: of the scalar `Σ c·∇f`, with a different weight c for each
/// element of each input's gradient. It compares what [`crate::Op::vjp_var`] says twice: its value
/// with the gradient that `vjp` gives, element by element, and its derivative with central
/// differences.
///
/// ```
/// use ringgrad_autograd::gradcheck_twice;
/// # fn main() -> ringgrad_autograd::Result<()> {
/// let cube = |x: &[ringgrad_autograd::Var]| (&(&x[0] * &x[0])? * &x[0])?.sum_all();
/// assert_eq!(gradcheck_twice(&[(vec![0.5, -1.0], vec![2])], cube)?, []);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// As [`gradcheck`], and an operation without differentiable vjp.
pub fn gradcheck_twice(
    inputs: &[(Vec<f64>, Vec<usize>)],
    f: impl Fn(&[Var]) -> Result<Var>,
) -> Result<Vec<Mismatch>> {
    let first = leaves(inputs)?;
    let wrt: Vec<&Var> = first.iter().collect();
    let y = f(&first)?;
    let (once, gradients) = (y.backward()?, y.gradients(&wrt)?);
    let mut mismatches = Vec::new();
    for (input, gradient) in gradients.iter().enumerate() {
        let pairs = gradient.value().to_vec::<f64>()?.into_iter();
        let pairs = pairs.zip(once.get(&first[input])?.to_vec::<f64>()?);
        for (element, (analytic, numeric)) in pairs.enumerate() {
            if !close(analytic, numeric) {
                mismatches.push(Mismatch { input, element, analytic, numeric });
            }
        }
    }
    let weighed = weighed(&gradients)?;
    let analytic = match weighed.node() {
        // A linear function: all second derivatives are 0.
        None => inputs.iter().map(|(values, _)| vec![0.0; values.len()]).collect(),
        Some(root) => {
            let targets: Vec<_> = first.iter().map(Var::node).collect();
            let order = Order::from_root(root).towards(&some(&targets));
            let seed = Tensor::scalar(&Device::cpu(), 1.0f64);
            let found = gradients_from(&order, Var::constant(seed), &targets)?;
            let values = |(found, (values, _)): (Option<Var>, &(Vec<f64>, Vec<usize>))| {
                found.map_or(Ok(vec![0.0; values.len()]), |found| Ok(found.value().to_vec()?))
            };
            found.into_iter().zip(inputs).map(values).collect::<Result<Vec<_>>>()?
        }
    };
    let value = |x: &[Var]| {
        let gradients = f(x)?.gradients(&x.iter().collect::<Vec<_>>())?;
        Ok(self::weighed(&gradients)?.value().item::<f64>()?)
    };
    mismatches.extend(compare(inputs, &analytic, value)?);
    Ok(mismatches)
}

fn leaves(inputs: &[(Vec<f64>, Vec<usize>)]) -> Result<Vec<Var>> {
    let device = Device::cpu();
    let leaf = |(i, (values, shape)): (usize, &(Vec<f64>, Vec<usize>))| {
        Ok(Var::leaf(&format!("input {i}"), Tensor::from_slice(&device, values, shape)?))
    };
    inputs.iter().enumerate().map(leaf).collect()
}

/// A scalar in which every element has a weight of its own.
fn weighed(gradients: &[Var]) -> Result<Var> {
    let mut sum = Var::constant(Tensor::scalar(&Device::cpu(), 0.0f64));
    for (i, gradient) in gradients.iter().enumerate() {
        let numel = gradient.value().numel();
        let weights: Vec<f64> =
            (0..numel).map(|k| 0.5 + (0.7 * k as f64 + i as f64).sin()).collect();
        let weights = Tensor::from_vec(&Device::cpu(), weights, gradient.value().shape())?;
        sum = (&sum + &(gradient * &Var::constant(weights))?.sum_all()?)?;
    }
    Ok(sum)
}

/// Every element whose analytic derivative is not that of `value` by central differences.
fn compare(
    inputs: &[(Vec<f64>, Vec<usize>)],
    analytic: &[Vec<f64>],
    value: impl Fn(&[Var]) -> Result<f64>,
) -> Result<Vec<Mismatch>> {
    let mut mismatches = Vec::new();
    for (input, gradient) in analytic.iter().enumerate() {
        for (element, &analytic) in gradient.iter().enumerate() {
            let mut moved = inputs.to_vec();
            let x = inputs[input].0[element];
            let h = 1e-6 * x.abs().max(1.0);
            moved[input].0[element] = x + h;
            let above = value(&leaves(&moved)?)?;
            moved[input].0[element] = x - h;
            let numeric = (above - value(&leaves(&moved)?)?) / (2.0 * h);
            if !close(analytic, numeric) {
                mismatches.push(Mismatch { input, element, analytic, numeric });
            }
        }
    }
    Ok(mismatches)
}

/// Written so that NaN on either side is a mismatch.
fn close(analytic: f64, numeric: f64) -> bool {
    (analytic - numeric).abs() <= 1e-8 + 1e-6 * numeric.abs()
}
