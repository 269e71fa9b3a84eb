//! The steps of batch normalization: sums of each channel, which a global batch adds up, and the
//! elementwise passes.

use kernels::DType;
use kernels::batch_norm::{self as kernel, Channels};

use super::affine::{check, check_like};
use super::group_norm::channels_of;
use crate::error::{Error, Result};
use crate::tensor::Tensor;
use crate::tensor_mut::Differentiable;

const OP: &str = "batch_norm";
const VJP: &str = "batch_norm_vjp";
const RULE: &str = "weight, bias and statistics have an element for each channel, axis 1 of x";

/// The mean of each channel and its factor `1 / √(σ² + eps)`, in f64.
#[derive(Clone, Debug, PartialEq)]
pub struct ChannelMoments {
    mean: Vec<f64>,
    rstd: Vec<f64>,
}

impl ChannelMoments {
    /// The moments of channels with these means and variances.
    ///
    /// # Errors
    /// An `eps` that is negative or not finite.
    pub fn new(mean: Vec<f64>, variance: &[f64], eps: f64) -> Result<Self> {
        Error::check_eps(OP, eps)?;
        let rstd = variance.iter().map(|variance| 1.0 / (variance + eps).sqrt()).collect();
        Ok(ChannelMoments { mean, rstd })
    }

    fn view(&self) -> kernel::ChannelMoments<'_> {
        kernel::ChannelMoments { mean: &self.mean, rstd: &self.rstd }
    }
}

impl Tensor {
    /// `Σ (x − from)` of each channel of `[samples, channels, ..]`, or `Σ (x − from)²`, in f64.
    ///
    /// # Errors
    /// An x without channels, another number of them in `from`, or elements that are not f32 or
    /// f64.
    pub fn channel_sums(&self, from: &[f64], squared: bool) -> Result<Vec<f64>> {
        let channels = channels_of(OP, self)?;
        check_channels(OP, self, channels, from.len())?;
        match self.dtype() {
            DType::F32 => sums::<f32>(self, channels, from, squared),
            DType::F64 => sums::<f64>(self, channels, from, squared),
            found => Err(Error::DType { op: OP, found, wanted: "f32 or f64" }),
        }
    }

    /// `(x − μ) · r · w + b` with the moments, the weight and the bias of each channel of
    /// `[samples, channels, ..]` (Ioffe and Szegedy 2015, "Batch normalization", algorithm 1).
    ///
    /// # Errors
    /// An x without channels, moments of another number of them, a weight or bias of another shape
    /// or type, elements that are not f32 or f64, or no memory for the result.
    pub fn batch_norm(
        &self,
        moments: &ChannelMoments,
        weight: Option<&Tensor>,
        bias: Option<&Tensor>,
    ) -> Result<Tensor> {
        let channels = channels_of(OP, self)?;
        check_channels(OP, self, channels, moments.mean.len())?;
        check(OP, self, [weight, bias], (&[channels.channels], RULE))?;
        match self.dtype() {
            DType::F32 => forward::<f32>(self, channels, moments, [weight, bias]),
            DType::F64 => forward::<f64>(self, channels, moments, [weight, bias]),
            found => Err(Error::DType { op: OP, found, wanted: "f32 or f64" }),
        }
    }

    /// `Σ dy` and `Σ dy · x̂` of each channel, in f64.
    ///
    /// # Errors
    /// Operands that do not fit together, or elements that are not f32 or f64.
    pub fn batch_norm_vjp_sums(
        &self,
        moments: &ChannelMoments,
        dy: &Tensor,
    ) -> Result<Vec<[f64; 2]>> {
        check_like(VJP, self, dy)?;
        let channels = channels_of(VJP, self)?;
        check_channels(VJP, self, channels, moments.mean.len())?;
        match self.dtype() {
            DType::F32 => vjp_sums::<f32>(self, channels, moments, dy),
            DType::F64 => vjp_sums::<f64>(self, channels, moments, dy),
            found => Err(Error::DType { op: VJP, found, wanted: "f32 or f64" }),
        }
    }

    /// The derivative of [`Tensor::batch_norm`] with respect to this x, from the means of dy and
    /// of dy · x̂ over each channel of the whole batch; both are 0 where the moments did not come
    /// from x.
    ///
    /// # Errors
    /// Operands that do not fit together, or elements that are not f32 or f64.
    pub fn batch_norm_vjp(
        &self,
        moments: &ChannelMoments,
        weight: Option<&Tensor>,
        means: &[[f64; 2]],
        dy: &Tensor,
    ) -> Result<Tensor> {
        check_like(VJP, self, dy)?;
        let channels = channels_of(VJP, self)?;
        check_channels(VJP, self, channels, moments.mean.len())?;
        check_channels(VJP, self, channels, means.len())?;
        check(VJP, self, [weight, None], (&[channels.channels], RULE))?;
        match self.dtype() {
            DType::F32 => backward::<f32>([self, dy], channels, moments, (weight, means)),
            DType::F64 => backward::<f64>([self, dy], channels, moments, (weight, means)),
            found => Err(Error::DType { op: VJP, found, wanted: "f32 or f64" }),
        }
    }
}

fn check_channels(op: &'static str, x: &Tensor, channels: Channels, found: usize) -> Result<()> {
    if found == channels.channels {
        return Ok(());
    }
    let right = crate::Shape::new(op, &[found])?;
    Err(Error::Shapes { op, left: *x.shape(), right, rule: RULE })
}

fn sums<T: Differentiable>(
    x: &Tensor,
    channels: Channels,
    from: &[f64],
    squared: bool,
) -> Result<Vec<f64>> {
    let x = x.contiguous_for(OP)?;
    let (threads, view) = (x.device().threads(), x.typed::<T>(OP)?);
    let mut sums = vec![[0.0]; channels.channels];
    if !view.is_empty() {
        kernel::power_sums(threads, (view, channels), (from, 1 + u32::from(squared)), &mut sums);
    }
    Ok(sums.concat())
}

fn forward<T: Differentiable>(
    x: &Tensor,
    channels: Channels,
    moments: &ChannelMoments,
    [weight, bias]: [Option<&Tensor>; 2],
) -> Result<Tensor> {
    let x = x.contiguous_for(OP)?;
    let weight = weight.map(|weight| weight.contiguous_for(OP)).transpose()?;
    let weight = weight.as_ref().map(|weight| weight.typed::<T>(OP)).transpose()?;
    let bias = bias.map(|bias| bias.contiguous_for(OP)).transpose()?;
    let bias = bias.as_ref().map(|bias| bias.typed::<T>(OP)).transpose()?;
    let (threads, view) = (x.device().threads(), x.typed::<T>(OP)?);
    Tensor::computed(OP, x.device(), *x.shape(), |y| {
        kernel::batch_norm(threads, (view, channels), moments.view(), [weight, bias], y);
    })
}

fn vjp_sums<T: Differentiable>(
    x: &Tensor,
    channels: Channels,
    moments: &ChannelMoments,
    dy: &Tensor,
) -> Result<Vec<[f64; 2]>> {
    let (x, dy) = (x.contiguous_for(VJP)?, dy.contiguous_for(VJP)?);
    let slices = [x.typed::<T>(VJP)?, dy.typed(VJP)?];
    let mut sums = vec![[0.0; 2]; channels.channels];
    if x.numel() > 0 {
        kernel::vjp_sums(x.device().threads(), slices, channels, moments.view(), &mut sums);
    }
    Ok(sums)
}

fn backward<T: Differentiable>(
    [x, dy]: [&Tensor; 2],
    channels: Channels,
    moments: &ChannelMoments,
    (weight, means): (Option<&Tensor>, &[[f64; 2]]),
) -> Result<Tensor> {
    let weight = weight.map(|weight| weight.contiguous_for(VJP)).transpose()?;
    let weight = weight.as_ref().map(|weight| weight.typed::<T>(VJP)).transpose()?;
    let (x, dy) = (x.contiguous_for(VJP)?, dy.contiguous_for(VJP)?);
    let slices = ([x.typed::<T>(VJP)?, dy.typed(VJP)?], channels);
    Tensor::computed(VJP, x.device(), *x.shape(), |dx| {
        let threads = x.device().threads();
        kernel::batch_norm_vjp(threads, slices, moments.view(), (weight, means), dx);
    })
}
