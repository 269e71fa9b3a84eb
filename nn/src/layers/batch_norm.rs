//! Batch normalization, over the global batch in training and with running statistics after.

use autograd::Var;

use crate::buffer::Buffer;
use crate::context::{Context, Mode};
use crate::error::Result;
use crate::init::Init;
use crate::module::Module;
use crate::parameter::Parameter;

/// Batch normalization of `[samples, channels]` or `[samples, channels, length]`.
pub type BatchNorm1d = BatchNorm<1>;

/// Batch normalization of `[samples, channels, height, width]`.
pub type BatchNorm2d = BatchNorm<2>;

/// Normalizes each channel, then scales and shifts it: `weight` starts at 1, `bias` at 0 (Ioffe and
/// Szegedy 2015, "Batch normalization"). `AXES` is the number of axes of a plane.
///
/// In training the statistics are those of the step's global batch, which the context's
/// [`autograd::BatchReduce`] adds up; the context records them for the buffers `running_mean` and
/// `running_var` (of the variance divided by n − 1), which
/// [`update_buffers`](crate::update_buffers) moves by `momentum` after the step. In evaluation the
/// buffers are used. As PyTorch: eps = 1e-5, momentum = 0.1.
#[derive(Debug)]
pub struct BatchNorm<const AXES: usize> {
    weight: Parameter,
    bias: Parameter,
    running_mean: Buffer,
    running_var: Buffer,
    momentum: f64,
    eps: f64,
}

impl<const AXES: usize> BatchNorm<AXES> {
    /// A layer for `channels` channels.
    ///
    /// # Errors
    /// A size that is too large for the memory, or a type that has no gradients.
    pub fn new(init: &Init, channels: usize) -> Result<Self> {
        Ok(BatchNorm {
            weight: init.full("weight", &[channels], 1.0)?,
            bias: init.full("bias", &[channels], 0.0)?,
            running_mean: init.buffer("running_mean", &[channels], 0.0)?,
            running_var: init.buffer("running_var", &[channels], 1.0)?,
            momentum: 0.1,
            eps: 1e-5,
        })
    }

    /// The same with another number added to the variance.
    pub fn with_eps(self, eps: f64) -> Self {
        BatchNorm { eps, ..self }
    }

    /// The same with running statistics that go this share of the way to each batch's.
    pub fn with_momentum(self, momentum: f64) -> Self {
        BatchNorm { momentum, ..self }
    }

    fn check(x: &Var) -> Result<()> {
        let shape = *x.value().shape();
        let ndim = shape.ndim();
        if ndim == AXES + 2 || (AXES == 1 && ndim == 2) {
            return Ok(());
        }
        let rule = if AXES == 1 {
            "BatchNorm1d takes [samples, channels] or [samples, channels, length]: reshape first"
        } else {
            "BatchNorm2d takes [samples, channels, height, width]: reshape first"
        };
        Err(tensor::Error::Shape { op: "batch_norm", shape, rule }.into())
    }
}

impl<const AXES: usize> Module for BatchNorm<AXES> {
    fn describe(&self) -> String {
        format!("BatchNorm{AXES}d({})", self.weight.value().numel())
    }

    fn forward(&self, cx: &Context, x: &Var) -> Result<Var> {
        BatchNorm::<AXES>::check(x)?;
        let (weight, bias) = (cx.var(&self.weight), cx.var(&self.bias));
        let affine = (Some(&weight), Some(&bias));
        if cx.mode() == Mode::Eval {
            let running = [self.running_mean.value(), self.running_var.value()];
            return Ok(x.batch_norm_with(running, affine.0, affine.1, self.eps)?);
        }
        let (y, found) = x.batch_norm(affine.0, affine.1, self.eps, cx.batch_reduce())?;
        let variance = found.unbiased_variance();
        cx.record(&self.running_mean, found.mean, self.momentum);
        cx.record(&self.running_var, variance, self.momentum);
        Ok(y)
    }

    fn visit(&self, visitor: &mut dyn FnMut(&Parameter)) {
        visitor(&self.weight);
        visitor(&self.bias);
    }

    fn visit_mut(&mut self, visitor: &mut dyn FnMut(&mut Parameter)) {
        visitor(&mut self.weight);
        visitor(&mut self.bias);
    }

    fn visit_buffers(&self, visitor: &mut dyn FnMut(&Buffer)) {
        visitor(&self.running_mean);
        visitor(&self.running_var);
    }

    fn visit_buffers_mut(&mut self, visitor: &mut dyn FnMut(&mut Buffer)) {
        visitor(&mut self.running_mean);
        visitor(&mut self.running_var);
    }
}
