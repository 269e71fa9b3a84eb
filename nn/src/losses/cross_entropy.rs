//! Cross-entropy of logits with classes.

use autograd::Var;
use tensor::{DType, Tensor};

use crate::error::{Error, Result};
use crate::loss::Loss;

/// Cross-entropy of logits `[.., classes]` with the class of each row `[..]`, counted over the
/// rows. Logits of a language model are `[batch, context, vocabulary]`.
///
/// # Errors
/// Shapes that do not fit, or a target outside `0..classes`, which is named with its row.
pub fn cross_entropy(logits: &Var, targets: &Tensor) -> Result<Loss> {
    Loss::new(logits.cross_entropy(targets)?, targets.numel() as f64)
}

/// Cross-entropy with class weights, ignored targets and label smoothing.
///
/// With ε the smoothing and w the weights a row's loss is
/// `−Σⱼ w[j] · ((1 − ε) · [j = t] + ε / classes) · ln softmax(x)ⱼ`, counted as `w[t]`: the mean
/// divides by the sum of the targets' weights, as PyTorch's does. An ignored row has loss,
/// gradient and count 0, whatever it holds.
///
/// ```
/// use autograd::Var;
/// use ringgrad_nn::CrossEntropy;
/// use tensor::{Device, Tensor};
/// # fn main() -> Result<(), ringgrad_nn::Error> {
/// let device = Device::cpu();
/// let logits = Var::constant(Tensor::from_vec(&device, vec![0.0f64; 6], &[3, 2])?);
/// let targets = Tensor::from_vec(&device, vec![1i64, -100, 0], &[3])?;
/// let loss = CrossEntropy::new().ignore_index(-100).loss(&logits, &targets)?;
/// assert_eq!(loss.count(), 2.0);
/// assert!((loss.mean()? - 2f64.ln()).abs() < 1e-15);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct CrossEntropy {
    class_weights: Option<Vec<f64>>,
    ignore_index: Option<i64>,
    label_smoothing: f64,
}

impl CrossEntropy {
    /// The plain cross-entropy.
    pub fn new() -> Self {
        CrossEntropy::default()
    }

    /// With a factor for each class.
    pub fn class_weights(mut self, weights: &[f64]) -> Self {
        self.class_weights = Some(weights.to_vec());
        self
    }

    /// Without the rows of this target, which need be no class.
    pub fn ignore_index(mut self, index: i64) -> Self {
        self.ignore_index = Some(index);
        self
    }

    /// With this share of each row's weight spread over all classes.
    pub fn label_smoothing(mut self, share: f64) -> Self {
        self.label_smoothing = share;
        self
    }

    /// The losses one by one: logits `[.., classes]`, targets `[..] -> [..]`.
    ///
    /// # Errors
    /// Shapes that do not fit, a target that is neither a class nor ignored, class weights that
    /// are not one a class, finite and not negative, or a smoothing outside 0 to 1.
    pub fn each(&self, logits: &Var, targets: &Tensor) -> Result<Var> {
        let classes = logits.value().shape().last().copied().unwrap_or(0);
        let weights = self.weights(classes)?;
        let wide = match logits.value().dtype() {
            DType::F64 => DType::F64,
            _ => DType::F32,
        };
        let weights = Tensor::from_slice(logits.value().device(), &weights, &[classes])?;
        let weights = weights.cast(wide)?;
        let q = targets.soft_targets(&weights, self.ignore_index, self.label_smoothing)?;
        Ok(logits.soft_cross_entropy(&q)?)
    }

    /// The summed loss and its count.
    ///
    /// # Errors
    /// As [`CrossEntropy::each`].
    pub fn loss(&self, logits: &Var, targets: &Tensor) -> Result<Loss> {
        let sum = self.each(logits, targets)?.sum_all()?;
        let classes = logits.value().shape().last().copied().unwrap_or(0);
        let weights = self.weights(classes)?;
        let counted = targets.to_vec::<i64>()?;
        let counted = counted.iter().filter(|&&target| self.ignore_index != Some(target));
        let weight = |&target: &i64| usize::try_from(target).ok().and_then(|t| weights.get(t));
        Loss::new(sum, counted.filter_map(weight).sum())
    }

    fn weights(&self, classes: usize) -> Result<Vec<f64>> {
        let weights = self.class_weights.clone().unwrap_or_else(|| vec![1.0; classes]);
        let usable = weights.iter().all(|w| w.is_finite() && *w >= 0.0);
        if weights.len() != classes || !usable {
            return Err(Error::ClassWeights { weights, classes });
        }
        Ok(weights)
    }
}
