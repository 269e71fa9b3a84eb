//! `y = (x − μ) / √(σ² + eps) · w + b` over groups of channels.

use kernels::DType;
use kernels::batch_norm::Channels;
use kernels::group_norm::{group_norm, group_norm_affine_vjp, group_norm_vjp};
use kernels::layer_norm::Moments;

use super::affine::{affine_in_f32, any_half, check, check_like};
use crate::error::{Error, Result};
use crate::shape::Shape;
use crate::tensor::Tensor;
use crate::tensor_mut::Differentiable;

const OP: &str = "group_norm";
const VJP: &str = "group_norm_vjp";
const RULE: &str = "weight and bias have an element for each channel, axis 1 of x";

/// The lengths of a tensor of channels, of at least two axes.
pub(super) fn channels_of(op: &'static str, x: &Tensor) -> Result<Channels> {
    match x.shape()[..] {
        [samples, channels, ref planes @ ..] => {
            Ok(Channels { samples, channels, inner: planes.iter().product() })
        }
        _ => {
            let rule =
                "channels are axis 1, behind the samples: reshape to [samples, channels, ..]";
            Err(Error::Shape { op, shape: *x.shape(), rule })
        }
    }
}

impl Tensor {
    /// Group normalization of `[samples, channels, ..]` (Wu and He 2018, "Group normalization"):
    /// `groups` of neighbouring channels, each normalized with all its planes; a weight and a bias
    /// of `[channels]`. Halves are widened to f32 and rounded once.
    ///
    /// # Errors
    /// An x without channels, groups that do not divide them, a weight or bias of another shape or
    /// type, an `eps` that is negative or not finite, integers, or no memory for the result.
    pub fn group_norm(
        &self,
        groups: usize,
        weight: Option<&Tensor>,
        bias: Option<&Tensor>,
        eps: f64,
    ) -> Result<Tensor> {
        if any_half(self, [weight, bias]) {
            let affine = [weight, bias];
            return affine_in_f32(self, affine, |x, [w, b]| x.group_norm(groups, w, b, eps));
        }
        Ok(self.group_norm_with_moments(groups, weight, bias, eps)?.0)
    }

    /// [`Tensor::group_norm`] of f32 or f64, and what its derivative needs: the means of the
    /// groups and their factors `1 / √(σ² + eps)`, as `[2, samples, groups]`.
    ///
    /// # Errors
    /// As there.
    pub fn group_norm_with_moments(
        &self,
        groups: usize,
        weight: Option<&Tensor>,
        bias: Option<&Tensor>,
        eps: f64,
    ) -> Result<(Tensor, Tensor)> {
        let channels = channels_of(OP, self)?;
        if groups == 0 || !channels.channels.is_multiple_of(groups) {
            let rule = "the number of groups must divide that of channels, axis 1: choose another";
            return Err(Error::Shape { op: OP, shape: *self.shape(), rule });
        }
        check(OP, self, [weight, bias], (&[channels.channels], RULE))?;
        Error::check_eps(OP, eps)?;
        match self.dtype() {
            DType::F32 => forward::<f32>(self, channels, [weight, bias], (groups, eps)),
            DType::F64 => forward::<f64>(self, channels, [weight, bias], (groups, eps)),
            found => Err(Error::DType { op: OP, found, wanted: "a float" }),
        }
    }

    /// The derivative of [`Tensor::group_norm`] with respect to this x, from the moments that it
    /// gave there.
    ///
    /// # Errors
    /// Operands that do not fit together, or elements that are not f32 or f64.
    pub fn group_norm_vjp(
        &self,
        moments: &Tensor,
        weight: Option<&Tensor>,
        dy: &Tensor,
    ) -> Result<Tensor> {
        let (channels, groups) = operands(self, moments, dy)?;
        check(VJP, self, [weight, None], (&[channels.channels], RULE))?;
        match self.dtype() {
            DType::F32 => backward::<f32>(self, moments, (weight, channels, groups), dy),
            DType::F64 => backward::<f64>(self, moments, (weight, channels, groups), dy),
            found => Err(Error::DType { op: VJP, found, wanted: "f32 or f64" }),
        }
    }

    /// The derivatives of [`Tensor::group_norm`] at this x with respect to the weight, `Σ dy · x̂`,
    /// and to the bias, `Σ dy`: `[channels]` each.
    ///
    /// # Errors
    /// Operands that do not fit together, or elements that are not f32 or f64.
    pub fn group_norm_affine_vjp(&self, moments: &Tensor, dy: &Tensor) -> Result<[Tensor; 2]> {
        let (channels, groups) = operands(self, moments, dy)?;
        match self.dtype() {
            DType::F32 => affine_backward::<f32>(self, moments, (channels, groups), dy),
            DType::F64 => affine_backward::<f64>(self, moments, (channels, groups), dy),
            found => Err(Error::DType { op: VJP, found, wanted: "f32 or f64" }),
        }
    }
}

fn forward<T: Differentiable>(
    x: &Tensor,
    channels: Channels,
    [weight, bias]: [Option<&Tensor>; 2],
    (groups, eps): (usize, f64),
) -> Result<(Tensor, Tensor)> {
    let x = x.contiguous_for(OP)?;
    let weight = weight.map(|weight| weight.contiguous_for(OP)).transpose()?;
    let weight = weight.as_ref().map(|weight| weight.typed::<T>(OP)).transpose()?;
    let bias = bias.map(|bias| bias.contiguous_for(OP)).transpose()?;
    let bias = bias.as_ref().map(|bias| bias.typed::<T>(OP)).transpose()?;
    let (view, threads) = (x.typed::<T>(OP)?, x.device().threads());
    // Of an empty x there are no groups to speak of, however many samples it claims.
    let samples = if x.numel() == 0 { 0 } else { channels.samples };
    let shapes = [*x.shape(), Shape::new(OP, &[2, samples, groups])?];
    Tensor::filled_pair(OP, x.device(), shapes, |y, moments| {
        let (mean, rstd) = moments.split_at_mut(samples * groups);
        if !y.is_empty() {
            let x = (view, channels);
            group_norm(threads, x, [weight, bias], (groups, eps), [y, mean, rstd]);
        }
    })
}

/// The lengths of x and the number of groups, once all have been found to fit.
fn operands(x: &Tensor, moments: &Tensor, dy: &Tensor) -> Result<(Channels, usize)> {
    check_like(VJP, x, dy)?;
    let (channels, found) = (channels_of(VJP, x)?, moments.shape());
    let fits = found.len() == 3
        && found[0] == 2
        && found[1] == if x.numel() == 0 { 0 } else { channels.samples }
        && found[2] > 0
        && channels.channels.is_multiple_of(found[2]);
    if fits {
        return Ok((channels, found[2]));
    }
    let rule = "the moments are [2, samples, groups] of a normalization of x";
    Err(Error::Shapes { op: VJP, left: *x.shape(), right: *found, rule })
}

fn backward<T: Differentiable>(
    x: &Tensor,
    moments: &Tensor,
    (weight, channels, groups): (Option<&Tensor>, Channels, usize),
    dy: &Tensor,
) -> Result<Tensor> {
    let weight = weight.map(|weight| weight.contiguous_for(VJP)).transpose()?;
    let weight = weight.as_ref().map(|weight| weight.typed::<T>(VJP)).transpose()?;
    let (x, dy, moments) =
        (x.contiguous_for(VJP)?, dy.contiguous_for(VJP)?, moments.contiguous_for(VJP)?);
    let slices = [x.typed::<T>(VJP)?, dy.typed(VJP)?];
    let (mean, rstd) = moments.typed::<T>(VJP)?.split_at(moments.numel() / 2);
    let moments = Moments { mean, rstd };
    Tensor::computed(VJP, x.device(), *x.shape(), |dx| {
        group_norm_vjp(x.device().threads(), (slices, channels), (weight, groups), moments, dx);
    })
}

fn affine_backward<T: Differentiable>(
    x: &Tensor,
    moments: &Tensor,
    (channels, groups): (Channels, usize),
    dy: &Tensor,
) -> Result<[Tensor; 2]> {
    let (x, dy, moments) =
        (x.contiguous_for(VJP)?, dy.contiguous_for(VJP)?, moments.contiguous_for(VJP)?);
    let slices = [x.typed::<T>(VJP)?, dy.typed(VJP)?];
    let (mean, rstd) = moments.typed::<T>(VJP)?.split_at(moments.numel() / 2);
    let mut sums = vec![[T::ZERO; 2]; channels.channels];
    if x.numel() > 0 {
        let (threads, moments) = (x.device().threads(), Moments { mean, rstd });
        group_norm_affine_vjp(threads, (slices, channels), groups, moments, &mut sums);
    }
    let column = |i: usize| {
        let values = sums.iter().map(|sums| sums[i]).collect();
        Tensor::from_vec::<T>(x.device(), values, &[channels.channels])
    };
    Ok([column(1)?, column(0)?])
}
