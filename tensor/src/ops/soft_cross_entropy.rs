//! `lossᵢ = Σⱼ −qᵢⱼ · ln softmax(xᵢ)ⱼ`, the cross-entropy of each row's logits with a weight for
//! each class, and the weights that one class a row stands for.

use kernels::DType;
use kernels::soft_cross_entropy::{
    SoftTargets, soft_cross_entropy, soft_cross_entropy_vjp, soft_targets,
};

use super::cross_entropy::checked_targets;
use crate::error::{Error, Result};
use crate::shape::Shape;
use crate::tensor::Tensor;
use crate::tensor_mut::Differentiable;

const OP: &str = "soft_cross_entropy";
const VJP: &str = "soft_cross_entropy_vjp";
const TARGETS: &str = "soft_targets";

impl Tensor {
    /// Classes `[..]` of i64 as weights `[.., classes]` in the type of `class_weights`: with ε the
    /// label smoothing and w the class weights, `w[j] · ((1 − ε) · [j = t] + ε / classes)`, and 0
    /// in rows whose target is `ignore_index`.
    ///
    /// # Errors
    /// Targets that are not i64, one that is neither a class nor ignored, class weights that are
    /// no vector of f32 or f64, or an ε outside 0 to 1.
    pub fn soft_targets(
        &self,
        class_weights: &Tensor,
        ignore_index: Option<i64>,
        label_smoothing: f64,
    ) -> Result<Tensor> {
        if class_weights.ndim() != 1 {
            let rule = "class weights are a vector, one a class";
            return Err(Error::Shape { op: TARGETS, shape: *class_weights.shape(), rule });
        }
        if !(0.0..=1.0).contains(&label_smoothing) {
            let rule = "label smoothing is a share of the weight, from 0 to 1";
            let (name, value) = ("label_smoothing", label_smoothing);
            return Err(Error::Setting { op: TARGETS, name, value, rule });
        }
        let settings = (ignore_index, label_smoothing);
        match class_weights.dtype() {
            DType::F32 => spread::<f32>(self, class_weights, settings),
            DType::F64 => spread::<f64>(self, class_weights, settings),
            found => Err(Error::DType { op: TARGETS, found, wanted: "f32 or f64" }),
        }
    }

    /// Logits and weights `[.., classes] -> (losses [..], softmax [.., classes])`; the second is
    /// what the derivative needs. A weight of 0 leaves its class out, whatever the logit is.
    /// Halves are taken in f32, and give f32.
    ///
    /// # Errors
    /// Two shapes or types, no axis, or logits that are no floats.
    pub fn soft_cross_entropy(&self, q: &Tensor) -> Result<(Tensor, Tensor)> {
        if self.dtype().is_half() {
            return self.cast(DType::F32)?.soft_cross_entropy(&q.cast(DType::F32)?);
        }
        check_pair(OP, self, q)?;
        match self.dtype() {
            DType::F32 => forward::<f32>(self, q),
            DType::F64 => forward::<f64>(self, q),
            found => Err(Error::DType { op: OP, found, wanted: "floats" }),
        }
    }

    /// The derivative of `Σ dy · losses` with respect to the logits; this tensor is the softmax
    /// from [`Tensor::soft_cross_entropy`], and `dy` is `[..]`.
    ///
    /// # Errors
    /// As there, and a `dy` of another shape or type.
    pub fn soft_cross_entropy_vjp(&self, q: &Tensor, dy: &Tensor) -> Result<Tensor> {
        check_pair(VJP, self, q)?;
        if dy.shape()[..] != self.shape()[..self.ndim() - 1] {
            let (left, right) = (*self.shape(), *dy.shape());
            let rule = "the upstream gradient has one element a row";
            return Err(Error::Shapes { op: VJP, left, right, rule });
        }
        match self.dtype() {
            DType::F32 => backward::<f32>(self, q, dy),
            DType::F64 => backward::<f64>(self, q, dy),
            found => Err(Error::DType { op: VJP, found, wanted: "f32 or f64" }),
        }
    }
}

fn check_pair(op: &'static str, x: &Tensor, q: &Tensor) -> Result<()> {
    if x.shape() != q.shape() || x.ndim() == 0 {
        let (left, right) = (*x.shape(), *q.shape());
        let rule = "logits and weights are both [.., classes]";
        return Err(Error::Shapes { op, left, right, rule });
    }
    if x.dtype() != q.dtype() {
        return Err(Error::DTypes { op, left: x.dtype(), right: q.dtype() });
    }
    Ok(())
}

fn spread<T: Differentiable>(
    targets: &Tensor,
    class_weights: &Tensor,
    (ignore_index, label_smoothing): (Option<i64>, f64),
) -> Result<Tensor> {
    let shape = Shape::new(TARGETS, &[targets.shape(), &[class_weights.numel()][..]].concat())?;
    let targets = checked_targets(TARGETS, &shape, targets, ignore_index)?;
    let weights = class_weights.contiguous_for(TARGETS)?;
    let (labels, weights) = (targets.typed::<i64>(TARGETS)?, weights.typed::<T>(TARGETS)?);
    let label_smoothing = T::from_f64(label_smoothing);
    let settings = SoftTargets { class_weights: Some(weights), ignore_index, label_smoothing };
    Tensor::computed(TARGETS, targets.device(), shape, |q| {
        soft_targets(labels, weights.len(), &settings, q);
    })
}

fn forward<T: Differentiable>(x: &Tensor, q: &Tensor) -> Result<(Tensor, Tensor)> {
    let (x, q) = (x.contiguous_for(OP)?, q.contiguous_for(OP)?);
    let inputs = [x.typed::<T>(OP)?, q.typed::<T>(OP)?];
    let (device, axis) = (x.device(), x.ndim() - 1);
    let shapes = [x.shape().without(axis), *x.shape()];
    Tensor::filled_pair(OP, device, shapes, |losses, probs| {
        soft_cross_entropy(device.threads(), inputs, x.shape()[axis], [losses, probs]);
    })
}

fn backward<T: Differentiable>(softmax: &Tensor, q: &Tensor, dy: &Tensor) -> Result<Tensor> {
    let (p, q, dy) =
        (softmax.contiguous_for(VJP)?, q.contiguous_for(VJP)?, dy.contiguous_for(VJP)?);
    let (inputs, dy) = ([p.typed::<T>(VJP)?, q.typed::<T>(VJP)?], dy.typed::<T>(VJP)?);
    let (device, classes) = (p.device(), p.shape()[p.ndim() - 1]);
    Tensor::computed(VJP, device, *p.shape(), |dx| {
        soft_cross_entropy_vjp(device.threads(), inputs, classes, dy, dx);
    })
}
