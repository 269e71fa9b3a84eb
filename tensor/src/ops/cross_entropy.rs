//! `lossᵢ = −ln softmax(xᵢ)[tᵢ]`, the cross-entropy of each row's logits with its class.

use kernels::DType;
use kernels::cross_entropy::{cross_entropy, cross_entropy_vjp};

use crate::error::{Error, Result};
use crate::shape::Shape;
use crate::tensor::Tensor;
use crate::tensor_mut::Differentiable;

const OP: &str = "cross_entropy";
const VJP: &str = "cross_entropy_vjp";

impl Tensor {
    /// Logits `[.., classes]` and targets `[..]` of i64 `-> (losses [..], softmax [.., classes])`;
    /// the second is what the derivative needs. Halves are taken in f32, and give f32.
    ///
    /// # Errors
    /// Logits that are no floats or have no axis, targets that are not one i64 a row, or a target
    /// outside `0..classes`, which is named with its row.
    pub fn cross_entropy(&self, targets: &Tensor) -> Result<(Tensor, Tensor)> {
        let targets = checked_targets(OP, self.shape(), targets, None)?;
        match self.dtype() {
            DType::F32 => forward::<f32>(self, &targets),
            DType::F64 => forward::<f64>(self, &targets),
            DType::F16 | DType::BF16 => forward::<f32>(&self.cast(DType::F32)?, &targets),
            found => Err(Error::DType { op: OP, found, wanted: "floats" }),
        }
    }

    /// The derivative of the sum of the losses with respect to the logits, times the scalar `dy`;
    /// this tensor is the softmax from [`Tensor::cross_entropy`].
    ///
    /// # Errors
    /// As [`Tensor::cross_entropy`], and a `dy` that is not one element of the same type.
    pub fn cross_entropy_vjp(&self, targets: &Tensor, dy: &Tensor) -> Result<Tensor> {
        let targets = checked_targets(VJP, self.shape(), targets, None)?;
        if dy.numel() != 1 {
            let rule = "the upstream gradient is one element, that of the sum of the losses";
            return Err(Error::Shape { op: VJP, shape: *dy.shape(), rule });
        }
        if dy.dtype() != self.dtype() {
            return Err(Error::DTypes { op: VJP, left: self.dtype(), right: dy.dtype() });
        }
        match self.dtype() {
            DType::F32 => backward::<f32>(self, &targets, dy.item()?),
            DType::F64 => backward::<f64>(self, &targets, dy.item()?),
            found => Err(Error::DType { op: VJP, found, wanted: "f32 or f64" }),
        }
    }
}

/// Row-major targets, one a row and each a class or `ignored`: what the kernels rely on.
pub(super) fn checked_targets(
    op: &'static str,
    logits: &Shape,
    targets: &Tensor,
    ignored: Option<i64>,
) -> Result<Tensor> {
    let Some((&classes, rows)) = logits.split_last() else {
        let rule = "logits have a last axis, of the classes";
        return Err(Error::Shape { op, shape: *logits, rule });
    };
    if targets.shape()[..] != *rows {
        let (left, right) = (*logits, *targets.shape());
        let rule = "logits are [.., classes] and targets [..]: one class a row";
        return Err(Error::Shapes { op, left, right, rule });
    }
    let targets = targets.contiguous_for(op)?;
    let known = |&t: &i64| ignored == Some(t) || usize::try_from(t).is_ok_and(|t| t < classes);
    let labels = targets.typed::<i64>(op)?;
    if let Some(row) = labels.iter().position(|t| !known(t)) {
        return Err(Error::Label { op, row, label: labels[row], classes });
    }
    Ok(targets)
}

fn forward<T: Differentiable>(logits: &Tensor, targets: &Tensor) -> Result<(Tensor, Tensor)> {
    let logits = logits.contiguous_for(OP)?;
    let (xs, ts) = (logits.typed::<T>(OP)?, targets.typed::<i64>(OP)?);
    let (device, classes) = (logits.device(), logits.shape()[logits.ndim() - 1]);
    Tensor::filled_pair(OP, device, [*targets.shape(), *logits.shape()], |losses, probs| {
        cross_entropy(device.threads(), xs, classes, ts, [losses, probs]);
    })
}

fn backward<T: Differentiable>(softmax: &Tensor, targets: &Tensor, dy: T) -> Result<Tensor> {
    let softmax = softmax.contiguous_for(VJP)?;
    let (ps, ts) = (softmax.typed::<T>(VJP)?, targets.typed::<i64>(VJP)?);
    let classes = softmax.shape()[softmax.ndim() - 1];
    Tensor::computed(VJP, softmax.device(), *softmax.shape(), |dx| {
        cross_entropy_vjp(ps, classes, ts, dy, dx);
    })
}
