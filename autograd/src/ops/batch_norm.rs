//! `y = x̂ · w + b` with `x̂ = (x − μ) · r` and `r = 1 / √(σ² + eps)`, by channel.
//!
//! In training μ and σ² are those of the global batch, so they depend on the samples of every
//! shard. Two reductions make them: of `Σ x` with the count n, then of `Σ (x − μ)²`. In the vjp
//! `Σ dy` and `Σ dy · x̂` are reduced before dx is formed:
//! `dx = r · w · ((dy − Σ dy / n) − x̂ · Σ (dy · x̂) / n)`. This shard's own sums are `db` and
//! `dw`, which are added up like any parameter's gradient.
//!
//! With given statistics they are constants: `dx = r · w · dy`.

use std::sync::Arc;

use tensor::{ChannelMoments, Shape, Tensor};

use super::affine::{affine_in_f32, any_half, inputs, values};
use crate::batch_reduce::BatchReduce;
use crate::error::{Error, Result};
use crate::input_grads::InputGrads;
use crate::node::Op;
use crate::var::Var;

const OP: &str = "batch_norm";
const X: usize = 0;
const WEIGHT: usize = 1;

/// What the channels of a global batch were like.
#[derive(Clone, Debug, PartialEq)]
pub struct BatchStatistics {
    /// The mean of each channel.
    pub mean: Vec<f64>,
    /// The variance of each channel, divided by n.
    pub variance: Vec<f64>,
    /// Elements of a channel, n.
    pub count: f64,
}

impl BatchStatistics {
    /// The variances divided by n − 1, as running statistics hold them.
    pub fn unbiased_variance(&self) -> Vec<f64> {
        self.variance.iter().map(|v| v * self.count / (self.count - 1.0)).collect()
    }
}

struct BatchNorm {
    x: Tensor,
    moments: ChannelMoments,
    weight: Option<Tensor>,
    has_bias: bool,
    /// The rest of the batch and the elements of a channel in all of it, where the statistics came
    /// from it.
    batch: Option<(Arc<dyn BatchReduce>, f64)>,
}

impl BatchNorm {
    fn means(&self, sums: &[[f64; 2]]) -> Result<Vec<[f64; 2]>> {
        let Some((batch, count)) = &self.batch else { return Ok(vec![[0.0; 2]; sums.len()]) };
        let sums = reduced(batch.as_ref(), "batch_norm: sums of dy and dy·x̂", &sums.concat())?;
        let pairs = sums.as_chunks::<2>().0.iter();
        Ok(pairs.map(|pair| pair.map(|sum| sum / count)).collect())
    }
}

impl Op for BatchNorm {
    fn name(&self) -> &'static str {
        OP
    }

    fn vjp(&self, dy: &Tensor, grads: &mut InputGrads<'_>) -> Result<()> {
        let dy = dy.contiguous()?;
        let sums = self.x.batch_norm_vjp_sums(&self.moments, &dy)?;
        let column = |i: usize| {
            let values = sums.iter().map(|sums| sums[i]).collect();
            Tensor::from_vec::<f64>(dy.device(), values, &[sums.len()])?.cast(dy.dtype())
        };
        if self.has_bias {
            let (bias, db) = (WEIGHT + usize::from(self.weight.is_some()), column(0)?);
            grads.write(bias, |out| out.copy_from(&db))?;
        }
        if self.weight.is_some() {
            let dw = column(1)?;
            grads.write(WEIGHT, |out| out.copy_from(&dw))?;
        }
        if grads.wanted(X) {
            let means = self.means(&sums)?;
            let weight = self.weight.as_ref();
            grads.give(X, self.x.batch_norm_vjp(&self.moments, weight, &means, &dy)?)?;
        }
        Ok(())
    }
}

/// The sums over the global batch, as many as there are partial ones.
fn reduced(batch: &dyn BatchReduce, label: &str, partial: &[f64]) -> Result<Vec<f64>> {
    let sums = batch.reduce(label, partial).and_then(|sums| {
        if sums.len() == partial.len() {
            return Ok(sums);
        }
        let (found, wanted) = (sums.len(), partial.len());
        Err(format!("{found} sums came back for {wanted}; a reduction keeps the number").into())
    });
    sums.map_err(|source| Error::BatchReduce { op: OP, source })
}

/// The statistics of the global batch that `x` is a part of.
fn statistics(x: &Tensor, batch: &dyn BatchReduce) -> Result<BatchStatistics> {
    let channels = x.shape().get(1).copied().unwrap_or(0);
    let mut partial = x.channel_sums(&vec![0.0; channels], false)?;
    partial.push(x.numel().checked_div(channels).unwrap_or(0) as f64);
    let mut sums = reduced(batch, "batch_norm: sums of x and their count", &partial)?;
    let count = sums.pop().unwrap_or(0.0);
    if count <= 1.0 {
        let rule = "training needs more than one value for each channel in the whole batch: use \
                    more samples, or evaluate with running statistics";
        return Err(tensor::Error::Shape { op: OP, shape: *x.shape(), rule }.into());
    }
    let mean: Vec<f64> = sums.iter().map(|sum| sum / count).collect();
    let squares = x.channel_sums(&mean, true)?;
    let squares = reduced(batch, "batch_norm: sums of (x − μ)²", &squares)?;
    let variance = squares.iter().map(|square| square / count).collect();
    Ok(BatchStatistics { mean, variance, count })
}

impl Var {
    /// Batch normalization in training of `[samples, channels, ..]`, with a weight and a bias of
    /// `[channels]` (Ioffe and Szegedy 2015, "Batch normalization", algorithm 1). The statistics
    /// are those of the global batch that `batch` adds up, and come back as well.
    ///
    /// # Errors
    /// An x without channels, a channel of one value in the whole batch, a weight or bias of
    /// another shape or type, an `eps` that is negative or not finite, integers, or a `batch` that
    /// refuses.
    pub fn batch_norm(
        &self,
        weight: Option<&Var>,
        bias: Option<&Var>,
        eps: f64,
        batch: &Arc<dyn BatchReduce>,
    ) -> Result<(Var, BatchStatistics)> {
        let affine = [weight, bias];
        if any_half(self, affine) {
            let mut found = None;
            let y = affine_in_f32(self, affine, |x, [w, b]| {
                let (y, statistics) = x.batch_norm(w, b, eps, batch)?;
                found = Some(statistics);
                Ok(y)
            })?;
            let none = || BatchStatistics { mean: vec![], variance: vec![], count: 0.0 };
            return Ok((y, found.unwrap_or_else(none)));
        }
        // Before the first reduction, at which other shards would wait for this one.
        check_rank(self.value())?;
        let statistics = statistics(self.value(), batch.as_ref())?;
        let moments = ChannelMoments::new(statistics.mean.clone(), &statistics.variance, eps)?;
        let batch = Some((Arc::clone(batch), statistics.count));
        Ok((normalized(self, affine, moments, batch)?, statistics))
    }

    /// Batch normalization with given statistics of each channel, as a trained model is used; see
    /// [`Var::batch_norm`]. They are constants.
    ///
    /// # Errors
    /// As there, and statistics of another number of channels.
    pub fn batch_norm_with(
        &self,
        [mean, variance]: [&Tensor; 2],
        weight: Option<&Var>,
        bias: Option<&Var>,
        eps: f64,
    ) -> Result<Var> {
        let affine = [weight, bias];
        if any_half(self, affine) {
            return affine_in_f32(self, affine, |x, [w, b]| {
                x.batch_norm_with([mean, variance], w, b, eps)
            });
        }
        let numbers = |x: &Tensor| x.cast(tensor::DType::F64)?.to_vec::<f64>();
        if mean.shape() != variance.shape() {
            let (left, right) = (*mean.shape(), *variance.shape());
            let rule = "mean and variance have an element for each channel";
            return Err(tensor::Error::Shapes { op: OP, left, right, rule }.into());
        }
        let moments = ChannelMoments::new(numbers(mean)?, &numbers(variance)?, eps)?;
        normalized(self, affine, moments, None)
    }
}

fn check_rank(x: &Tensor) -> Result<()> {
    let shape: Shape = *x.shape();
    if shape.ndim() >= 2 {
        return Ok(());
    }
    let rule = "channels are axis 1, behind the samples: reshape to [samples, channels, ..]";
    Err(tensor::Error::Shape { op: OP, shape, rule }.into())
}

fn normalized(
    x: &Var,
    affine: [Option<&Var>; 2],
    moments: ChannelMoments,
    batch: Option<(Arc<dyn BatchReduce>, f64)>,
) -> Result<Var> {
    let [w, b] = values(affine);
    let y = x.value().batch_norm(&moments, w, b)?;
    let saved = BatchNorm {
        x: x.value().clone(),
        moments,
        weight: w.cloned(),
        has_bias: b.is_some(),
        batch,
    };
    Ok(Var::from_op(y, &inputs(x, affine), saved))
}
