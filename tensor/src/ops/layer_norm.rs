//! `y = (x − μ) / √(σ² + eps) · w + b` over the last axes.

use kernels::DType;
use kernels::layer_norm::{Moments, layer_norm, layer_norm_vjp, layer_norm_weight_vjp};

use super::affine::{affine_in_f32, any_half, check, check_like};
use crate::error::{Error, Result};
use crate::shape::Shape;
use crate::tensor::Tensor;
use crate::tensor_mut::{Differentiable, TensorMut};

const OP: &str = "layer_norm";
const VJP: &str = "layer_norm_vjp";
const RULE: &str = "weight and bias have the shape of the normalized axes, the last of x";

impl Tensor {
    /// Layer normalization over the last `dims` axes (Ba, Kiros and Hinton 2016, "Layer
    /// normalization", eq. 4), with a weight and a bias of their shape; the variance is divided by
    /// the number of elements. Halves are widened to f32 and rounded once.
    ///
    /// # Errors
    /// A `dims` of 0 or of more axes than there are, a weight or bias of another shape or type, an
    /// `eps` that is negative or not finite, integers, or no memory for the result.
    pub fn layer_norm(
        &self,
        dims: usize,
        weight: Option<&Tensor>,
        bias: Option<&Tensor>,
        eps: f64,
    ) -> Result<Tensor> {
        if any_half(self, [weight, bias]) {
            return affine_in_f32(self, [weight, bias], |x, [w, b]| x.layer_norm(dims, w, b, eps));
        }
        Ok(self.layer_norm_with_moments(dims, weight, bias, eps)?.0)
    }

    /// [`Tensor::layer_norm`] of f32 or f64, and what its derivative needs: the means of the rows
    /// and their factors `1 / √(σ² + eps)`, as `[2, rows]`.
    ///
    /// # Errors
    /// As there.
    pub fn layer_norm_with_moments(
        &self,
        dims: usize,
        weight: Option<&Tensor>,
        bias: Option<&Tensor>,
        eps: f64,
    ) -> Result<(Tensor, Tensor)> {
        let shape = self.shape();
        if dims == 0 || dims > shape.ndim() {
            let rule = "the normalized axes are the last `dims`, at least 1 and at most all";
            return Err(Error::Shape { op: OP, shape: *shape, rule });
        }
        check(OP, self, [weight, bias], (&shape[shape.ndim() - dims..], RULE))?;
        Error::check_eps(OP, eps)?;
        let len = shape[shape.ndim() - dims..].iter().product();
        match self.dtype() {
            DType::F32 => forward::<f32>(self, [weight, bias], (len, eps)),
            DType::F64 => forward::<f64>(self, [weight, bias], (len, eps)),
            found => Err(Error::DType { op: OP, found, wanted: "a float" }),
        }
    }

    /// The derivative of [`Tensor::layer_norm`] with respect to this x, from the moments that it
    /// gave there.
    ///
    /// # Errors
    /// Operands that do not fit together, or elements that are not f32 or f64.
    pub fn layer_norm_vjp(
        &self,
        moments: &Tensor,
        weight: Option<&Tensor>,
        dy: &Tensor,
    ) -> Result<Tensor> {
        check_operands(self, moments, dy)?;
        match self.dtype() {
            DType::F32 => backward::<f32>(self, moments, weight, dy),
            DType::F64 => backward::<f64>(self, moments, weight, dy),
            found => Err(Error::DType { op: VJP, found, wanted: "f32 or f64" }),
        }
    }

    /// The derivative of [`Tensor::layer_norm`] at this x with respect to the weight, written into
    /// `out`: `Σ dy · x̂` over the rows, in their order.
    ///
    /// # Errors
    /// Operands that do not fit together, or elements that are not f32 or f64.
    pub fn layer_norm_weight_vjp_into(
        &self,
        moments: &Tensor,
        dy: &Tensor,
        out: &mut TensorMut<'_>,
    ) -> Result<()> {
        check_operands(self, moments, dy)?;
        match self.dtype() {
            DType::F32 => weight_backward::<f32>(self, moments, dy, out),
            DType::F64 => weight_backward::<f64>(self, moments, dy, out),
            found => Err(Error::DType { op: VJP, found, wanted: "f32 or f64" }),
        }
    }
}

fn forward<T: Differentiable>(
    x: &Tensor,
    affine: [Option<&Tensor>; 2],
    (len, eps): (usize, f64),
) -> Result<(Tensor, Tensor)> {
    let x = x.contiguous_for(OP)?;
    let rows = x.numel().checked_div(len).unwrap_or(0);
    let mut parameters = [None, None];
    for (laid, parameter) in parameters.iter_mut().zip(affine) {
        *laid = parameter.map(|parameter| parameter.contiguous_for(OP)).transpose()?;
    }
    let weight = parameters[0].as_ref().map(|weight| weight.typed::<T>(OP)).transpose()?;
    let bias = parameters[1].as_ref().map(|bias| bias.typed::<T>(OP)).transpose()?;
    let (view, threads) = (x.typed::<T>(OP)?, x.device().threads());
    let shapes = [*x.shape(), Shape::new(OP, &[2, rows])?];
    Tensor::filled_pair(OP, x.device(), shapes, |y, moments| {
        let (mean, rstd) = moments.split_at_mut(rows);
        layer_norm(threads, view, [weight, bias], (len, eps), [y, mean, rstd]);
    })
}

/// The element types are looked at where the slices are taken.
fn check_operands(x: &Tensor, moments: &Tensor, dy: &Tensor) -> Result<()> {
    check_like(VJP, x, dy)?;
    let (left, right) = (*x.shape(), *moments.shape());
    let fits = right.len() == 2
        && right[0] == 2
        && (x.numel() == 0 || (right[1] > 0 && x.numel().is_multiple_of(right[1])));
    let rule = "the moments are [2, rows] of a normalization of x";
    if fits { Ok(()) } else { Err(Error::Shapes { op: VJP, left, right, rule }) }
}

/// The moments in their contiguous form.
fn moments_of<T: Differentiable>(moments: &Tensor) -> Result<Moments<'_, T>> {
    let (mean, rstd) = moments.typed::<T>(VJP)?.split_at(moments.shape()[1]);
    Ok(Moments { mean, rstd })
}

fn backward<T: Differentiable>(
    x: &Tensor,
    moments: &Tensor,
    weight: Option<&Tensor>,
    dy: &Tensor,
) -> Result<Tensor> {
    let rows = moments.shape()[1];
    let len = x.numel().checked_div(rows).unwrap_or(0);
    if let Some(weight) = weight
        && x.numel() > 0
        && weight.numel() != len
    {
        return Err(Error::Shapes {
            op: VJP,
            left: *x.shape(),
            right: *weight.shape(),
            rule: RULE,
        });
    }
    let weight = weight.map(|weight| weight.contiguous_for(VJP)).transpose()?;
    let weight = weight.as_ref().map(|weight| weight.typed::<T>(VJP)).transpose()?;
    let (x, dy) = (x.contiguous_for(VJP)?, dy.contiguous_for(VJP)?);
    let moments = moments.contiguous_for(VJP)?;
    let (slices, moments) = ([x.typed::<T>(VJP)?, dy.typed(VJP)?], moments_of(&moments)?);
    Tensor::computed(VJP, x.device(), *x.shape(), |dx| {
        layer_norm_vjp(x.device().threads(), slices, weight, moments, dx);
    })
}

fn weight_backward<T: Differentiable>(
    x: &Tensor,
    moments: &Tensor,
    dy: &Tensor,
    out: &mut TensorMut<'_>,
) -> Result<()> {
    let shape = *out.shape();
    let rows = moments.shape()[1];
    if rows.checked_mul(shape.numel()) != Some(x.numel()) {
        return Err(Error::Shapes { op: VJP, left: *x.shape(), right: shape, rule: RULE });
    }
    let (x, dy) = (x.contiguous_for(VJP)?, dy.contiguous_for(VJP)?);
    let moments = moments.contiguous_for(VJP)?;
    let (slices, moments) = ([x.typed::<T>(VJP)?, dy.typed(VJP)?], moments_of(&moments)?);
    let dw = out.typed::<T>(VJP, &shape)?;
    layer_norm_weight_vjp(x.device().threads(), slices, moments, dw);
    Ok(())
}
