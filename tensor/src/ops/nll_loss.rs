//! `lossᵢ = −w[tᵢ] · x[i, tᵢ]`, the negative log-likelihood of rows of log-probabilities.

use kernels::DType;
use kernels::nll_loss::{nll_loss, nll_loss_vjp};

use super::cross_entropy::checked_targets;
use crate::error::{Error, Result};
use crate::shape::Shape;
use crate::tensor::Tensor;
use crate::tensor_mut::Differentiable;

const OP: &str = "nll_loss";
const VJP: &str = "nll_loss_vjp";

impl Tensor {
    /// Log-probabilities `[.., classes]`, targets `[..]` of i64 and a weight for each row `[..]`
    /// `-> losses [..]`. A row of weight 0 does not count: its target may be any number.
    ///
    /// # Errors
    /// Shapes or types that do not fit, or a target of a row that counts outside `0..classes`.
    pub fn nll_loss(&self, targets: &Tensor, row_weights: &Tensor) -> Result<Tensor> {
        match self.dtype() {
            DType::F32 => forward::<f32>(self, targets, row_weights),
            DType::F64 => forward::<f64>(self, targets, row_weights),
            found => Err(Error::DType { op: OP, found, wanted: "f32 or f64" }),
        }
    }

    /// The derivative of `Σ dy · losses` with respect to log-probabilities with `classes` columns;
    /// this tensor is the upstream gradient `[..]`.
    ///
    /// # Errors
    /// As [`Tensor::nll_loss`].
    pub fn nll_loss_vjp(
        &self,
        classes: usize,
        targets: &Tensor,
        row_weights: &Tensor,
    ) -> Result<Tensor> {
        match self.dtype() {
            DType::F32 => backward::<f32>(self, classes, targets, row_weights),
            DType::F64 => backward::<f64>(self, classes, targets, row_weights),
            found => Err(Error::DType { op: VJP, found, wanted: "f32 or f64" }),
        }
    }
}

/// Row-major targets and weights; targets of rows without weight become class 0.
fn rows<T: Differentiable>(
    op: &'static str,
    shape: &Shape,
    targets: &Tensor,
    row_weights: &Tensor,
) -> Result<[Tensor; 2]> {
    if targets.shape() != row_weights.shape() {
        let (left, right) = (*targets.shape(), *row_weights.shape());
        let rule = "there is one weight a target";
        return Err(Error::Shapes { op, left, right, rule });
    }
    let (targets, weights) = (targets.contiguous_for(op)?, row_weights.contiguous_for(op)?);
    let (labels, ws) = (targets.typed::<i64>(op)?, weights.typed::<T>(op)?);
    let counted = Tensor::filled(op, targets.device(), *targets.shape(), |counted| {
        for ((counted, &label), &w) in counted.iter_mut().zip(labels).zip(ws) {
            *counted = if w == T::ZERO { 0 } else { label };
        }
    })?;
    // Class 0 exists wherever a row does not count, unless there are no classes at all.
    let ignored = (shape.last() == Some(&0)).then_some(0);
    Ok([checked_targets(op, shape, &counted, ignored)?, weights])
}

fn forward<T: Differentiable>(x: &Tensor, targets: &Tensor, weights: &Tensor) -> Result<Tensor> {
    let [targets, weights] = rows::<T>(OP, x.shape(), targets, weights)?;
    let x = x.contiguous_for(OP)?;
    let (xs, ts, ws) = (x.typed::<T>(OP)?, targets.typed::<i64>(OP)?, weights.typed::<T>(OP)?);
    let classes = x.shape()[x.ndim() - 1];
    Tensor::computed(OP, x.device(), *targets.shape(), |losses| {
        nll_loss(xs, classes, ts, ws, losses);
    })
}

fn backward<T: Differentiable>(
    dy: &Tensor,
    classes: usize,
    targets: &Tensor,
    weights: &Tensor,
) -> Result<Tensor> {
    let shape = Shape::new(VJP, &[dy.shape(), &[classes][..]].concat())?;
    let [targets, weights] = rows::<T>(VJP, &shape, targets, weights)?;
    let dy = dy.contiguous_for(VJP)?;
    let (ds, ts, ws) = (dy.typed::<T>(VJP)?, targets.typed::<i64>(VJP)?, weights.typed::<T>(VJP)?);
    Tensor::computed(VJP, dy.device(), shape, |dx| nll_loss_vjp(classes, ts, ws, ds, dx))
}
