//! Gradients against central differences.
//!
//! The derivative along one element is compared with `(f(x + h) − f(x − h)) / 2h`, in f64, with
//! `h = 1e-6 · max(1, |x|)`. Truncation costs about h², rounding about 1e-16 / h, so a right
//! gradient agrees to about 1e-9 relative; the tolerance is 1e-6 relative plus 1e-8 absolute.

use tensor::{Device, Tensor};

use crate::error::Result;
use crate::var::Var;

/// Where an analytic gradient and the central difference disagree.
#[derive(Clone, Debug, PartialEq)]
pub struct Mismatch {
    /// Which input.
    pub input: usize,
    /// Which of its elements, in row-major order.
    pub element: usize,
    /// What `backward` says.
    pub analytic: f64,
    /// What central differences say.
    pub numeric: f64,
}

/// Compares the gradient of the scalar `f(inputs)` with central differences, element by element,
/// and returns every disagreement. `inputs` are f64 values and shapes; keep them away from kinks.
///
/// # Errors
/// A refused operation in `f`, or an `f` that is not a scalar or leaves an input unused.
pub fn gradcheck(
    inputs: &[(Vec<f64>, Vec<usize>)],
    f: impl Fn(&[Var]) -> Result<Var>,
) -> Result<Vec<Mismatch>> {
    let device = Device::cpu();
    let leaves = |values: &[(Vec<f64>, Vec<usize>)]| -> Result<Vec<Var>> {
        let leaf = |(values, shape): &(Vec<f64>, Vec<usize>)| {
            Ok(Var::leaf("input", Tensor::from_slice(&device, values, shape)?))
        };
        values.iter().map(leaf).collect()
    };
    let analytic_at = leaves(inputs)?;
    let gradients = f(&analytic_at)?.backward()?;
    let gradients =
        analytic_at.iter().map(|leaf| gradients.get(leaf)).collect::<Result<Vec<_>>>()?;
    let value = |moved: &[(Vec<f64>, Vec<usize>)]| -> Result<f64> {
        Ok(f(&leaves(moved)?)?.value().item::<f64>()?)
    };
    let mut mismatches = Vec::new();
    for (input, gradient) in gradients.iter().enumerate() {
        for (element, analytic) in gradient.to_vec::<f64>()?.into_iter().enumerate() {
            let mut moved = inputs.to_vec();
            let x = inputs[input].0[element];
            let h = 1e-6 * x.abs().max(1.0);
            moved[input].0[element] = x + h;
            let above = value(&moved)?;
            moved[input].0[element] = x - h;
            let numeric = (above - value(&moved)?) / (2.0 * h);
            // Written so that NaN on either side is a mismatch.
            let close = (analytic - numeric).abs() <= 1e-8 + 1e-6 * numeric.abs();
            if !close {
                mismatches.push(Mismatch { input, element, analytic, numeric });
            }
        }
    }
    Ok(mismatches)
}
