//! `y = x / √(mean x² + eps) · w` over the last axes.

use kernels::DType;
use kernels::rms_norm::{rms_norm, rms_norm_vjp, rms_norm_weight_vjp};

use super::affine::{affine_in_f32, any_half, check, check_like};
use crate::error::{Error, Result};
use crate::shape::Shape;
use crate::tensor::Tensor;
use crate::tensor_mut::{Differentiable, TensorMut};

const OP: &str = "rms_norm";
const VJP: &str = "rms_norm_vjp";
const RULE: &str = "the weight has the shape of the normalized axes, the last of x";

impl Tensor {
    /// Normalization by the root mean square over the last `dims` axes (Zhang and Sennrich 2019,
    /// "Root mean square layer normalization", eq. 4), with a weight of their shape. Halves are
    /// widened to f32 and rounded once.
    ///
    /// # Errors
    /// A `dims` of 0 or of more axes than there are, a weight of another shape or type, an `eps`
    /// that is negative or not finite, integers, or no memory for the result.
    pub fn rms_norm(&self, dims: usize, weight: Option<&Tensor>, eps: f64) -> Result<Tensor> {
        if any_half(self, [weight, None]) {
            return affine_in_f32(self, [weight, None], |x, [w, _]| x.rms_norm(dims, w, eps));
        }
        Ok(self.rms_norm_with_factors(dims, weight, eps)?.0)
    }

    /// [`Tensor::rms_norm`] of f32 or f64, and the factors `1 / √(mean x² + eps)` of the rows, as
    /// `[rows]`.
    ///
    /// # Errors
    /// As there.
    pub fn rms_norm_with_factors(
        &self,
        dims: usize,
        weight: Option<&Tensor>,
        eps: f64,
    ) -> Result<(Tensor, Tensor)> {
        let shape = self.shape();
        if dims == 0 || dims > shape.ndim() {
            let rule = "the normalized axes are the last `dims`, at least 1 and at most all";
            return Err(Error::Shape { op: OP, shape: *shape, rule });
        }
        let row = &shape[shape.ndim() - dims..];
        check(OP, self, [weight, None], (row, RULE))?;
        Error::check_eps(OP, eps)?;
        let len = row.iter().product();
        match self.dtype() {
            DType::F32 => forward::<f32>(self, weight, (len, eps)),
            DType::F64 => forward::<f64>(self, weight, (len, eps)),
            found => Err(Error::DType { op: OP, found, wanted: "a float" }),
        }
    }

    /// The derivative of [`Tensor::rms_norm`] with respect to this x, from the factors that it
    /// gave there.
    ///
    /// # Errors
    /// Operands that do not fit together, or elements that are not f32 or f64.
    pub fn rms_norm_vjp(
        &self,
        factors: &Tensor,
        weight: Option<&Tensor>,
        dy: &Tensor,
    ) -> Result<Tensor> {
        check_like(VJP, self, dy)?;
        match self.dtype() {
            DType::F32 => backward::<f32>(self, factors, weight, dy),
            DType::F64 => backward::<f64>(self, factors, weight, dy),
            found => Err(Error::DType { op: VJP, found, wanted: "f32 or f64" }),
        }
    }

    /// The derivative of [`Tensor::rms_norm`] at this x with respect to the weight, written into
    /// `out`: `Σ dy · x̂` over the rows, in their order.
    ///
    /// # Errors
    /// Operands that do not fit together, or elements that are not f32 or f64.
    pub fn rms_norm_weight_vjp_into(
        &self,
        factors: &Tensor,
        dy: &Tensor,
        out: &mut TensorMut<'_>,
    ) -> Result<()> {
        check_like(VJP, self, dy)?;
        match self.dtype() {
            DType::F32 => weight_backward::<f32>(self, factors, dy, out),
            DType::F64 => weight_backward::<f64>(self, factors, dy, out),
            found => Err(Error::DType { op: VJP, found, wanted: "f32 or f64" }),
        }
    }
}

fn forward<T: Differentiable>(
    x: &Tensor,
    weight: Option<&Tensor>,
    (len, eps): (usize, f64),
) -> Result<(Tensor, Tensor)> {
    let x = x.contiguous_for(OP)?;
    let rows = x.numel().checked_div(len).unwrap_or(0);
    let weight = weight.map(|weight| weight.contiguous_for(OP)).transpose()?;
    let weight = weight.as_ref().map(|weight| weight.typed::<T>(OP)).transpose()?;
    let (view, threads) = (x.typed::<T>(OP)?, x.device().threads());
    let shapes = [*x.shape(), Shape::new(OP, &[rows])?];
    Tensor::filled_pair(OP, x.device(), shapes, |y, rstd| {
        rms_norm(threads, view, weight, (len, eps), [y, rstd]);
    })
}

/// Fails unless `x` consists of one row for each factor, as long as `row`.
fn check_rows(x: &Tensor, factors: &Tensor, row: usize) -> Result<()> {
    let (left, right) = (*x.shape(), *factors.shape());
    let fits = right.ndim() == 1 && right[0].checked_mul(row) == Some(x.numel());
    let rule = "there must be a factor for each row of x, and a weight for each of its elements";
    if fits { Ok(()) } else { Err(Error::Shapes { op: VJP, left, right, rule }) }
}

fn backward<T: Differentiable>(
    x: &Tensor,
    factors: &Tensor,
    weight: Option<&Tensor>,
    dy: &Tensor,
) -> Result<Tensor> {
    let len = x.numel().checked_div(factors.numel()).unwrap_or(0);
    check_rows(x, factors, if x.numel() == 0 { 0 } else { weight.map_or(len, Tensor::numel) })?;
    let weight = weight.map(|weight| weight.contiguous_for(VJP)).transpose()?;
    let weight = weight.as_ref().map(|weight| weight.typed::<T>(VJP)).transpose()?;
    let (x, dy, factors) =
        (x.contiguous_for(VJP)?, dy.contiguous_for(VJP)?, factors.contiguous_for(VJP)?);
    let (slices, rstd) = ([x.typed::<T>(VJP)?, dy.typed(VJP)?], factors.typed(VJP)?);
    Tensor::computed(VJP, x.device(), *x.shape(), |dx| {
        rms_norm_vjp(x.device().threads(), slices, weight, rstd, dx);
    })
}

fn weight_backward<T: Differentiable>(
    x: &Tensor,
    factors: &Tensor,
    dy: &Tensor,
    out: &mut TensorMut<'_>,
) -> Result<()> {
    let shape = *out.shape();
    check_rows(x, factors, shape.numel())?;
    let (x, dy, factors) =
        (x.contiguous_for(VJP)?, dy.contiguous_for(VJP)?, factors.contiguous_for(VJP)?);
    let (slices, rstd) = ([x.typed::<T>(VJP)?, dy.typed(VJP)?], factors.typed(VJP)?);
    rms_norm_weight_vjp(x.device().threads(), slices, rstd, out.typed::<T>(VJP, &shape)?);
    Ok(())
}
