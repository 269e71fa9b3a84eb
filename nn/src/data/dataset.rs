//! Samples in memory, and how they are split.

use std::sync::Arc;

use kernels::random::Stream;

use super::batches::Batches;
use super::error::{Error, Result};

/// Samples: inputs, row-major `[samples, ..sample shape]`, and targets: one class for each sample,
/// or one for each of its tokens.
///
/// Clones share the samples.
#[derive(Clone, Debug)]
pub struct Dataset {
    samples: Arc<Samples>,
}

/// Invariants, checked by [`Dataset::new`] and [`Dataset::tokens`]: there are as many inputs as
/// `len` samples of `sample_shape`, whose product is `per_sample`; tokens have one label each,
/// numbers one a sample; labels and tokens lie in `0..classes`.
#[derive(Debug)]
struct Samples {
    name: String,
    inputs: Inputs,
    len: usize,
    sample_shape: Vec<usize>,
    per_sample: usize,
    labels: Vec<i64>,
    classes: usize,
}

/// What samples are made of.
#[derive(Debug)]
enum Inputs {
    /// Features of things that have one class each.
    Numbers(Vec<f32>),
    /// Tokens of a text, numbered from 0, each with the one that follows it as its target.
    Tokens(Vec<i64>),
}

/// A data set in two parts.
#[derive(Clone, Debug)]
pub struct Split {
    /// What the parameters are fitted to.
    pub train: Dataset,
    /// What they are judged by.
    pub test: Dataset,
}

impl Dataset {
    /// The data set of these samples; `name` is what errors call it. It may be empty.
    ///
    /// # Errors
    /// Features that do not make one sample of `sample_shape` for each label, or a label outside
    /// `0..classes`.
    pub fn new(
        name: impl Into<String>,
        features: Vec<f32>,
        sample_shape: &[usize],
        labels: Vec<i64>,
        classes: usize,
    ) -> Result<Self> {
        let name = name.into();
        let per_sample = sample_shape.iter().try_fold(1usize, |n, &len| n.checked_mul(len));
        let fits = |n: usize| n.checked_mul(labels.len()) == Some(features.len());
        let Some(per_sample) = per_sample.filter(|&n| fits(n)) else {
            return Err(Error::Features {
                name,
                features: features.len(),
                samples: labels.len(),
                shape: sample_shape.to_vec(),
            });
        };
        let known = |class: i64| usize::try_from(class).is_ok_and(|class| class < classes);
        if let Some(sample) = labels.iter().position(|&class| !known(class)) {
            return Err(Error::Class { name, sample, class: labels[sample], classes });
        }
        Ok(Dataset {
            samples: Arc::new(Samples {
                name,
                inputs: Inputs::Numbers(features),
                len: labels.len(),
                sample_shape: sample_shape.to_vec(),
                per_sample,
                labels,
                classes,
            }),
        })
    }

    /// Windows of a text of `classes` different tokens: sample i is the `context` tokens from
    /// `i · stride` on, and its targets are those one further. As many as fit; there may be none.
    ///
    /// # Errors
    /// A context or stride of 0, or a token outside `0..classes`.
    pub fn tokens(
        name: impl Into<String>,
        text: &[i64],
        context: usize,
        stride: usize,
        classes: usize,
    ) -> Result<Self> {
        let name = name.into();
        if context == 0 || stride == 0 {
            return Err(Error::Window { name, context, stride });
        }
        let known = |token: i64| usize::try_from(token).is_ok_and(|token| token < classes);
        if let Some(place) = text.iter().position(|&token| !known(token)) {
            return Err(Error::Token { name, place, token: text[place], classes });
        }
        let starts = (0..text.len().saturating_sub(context)).step_by(stride);
        let windows = |shift: usize| {
            let window = |start: usize| &text[start + shift..start + shift + context];
            starts.clone().flat_map(window).copied().collect()
        };
        Ok(Dataset {
            samples: Arc::new(Samples {
                name,
                inputs: Inputs::Tokens(windows(0)),
                len: starts.len(),
                sample_shape: vec![context],
                per_sample: context,
                labels: windows(1),
                classes,
            }),
        })
    }

    /// What errors call it.
    pub fn name(&self) -> &str {
        &self.samples.name
    }

    /// Number of samples.
    pub fn len(&self) -> usize {
        self.samples.len
    }

    /// Whether there are no samples.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The shape of one sample, `[]` if it is a single number.
    pub fn sample_shape(&self) -> &[usize] {
        &self.samples.sample_shape
    }

    /// Features or tokens of one sample: the product of its shape.
    pub fn features_per_sample(&self) -> usize {
        self.samples.per_sample
    }

    /// Targets of one sample: 1, or as many as it has tokens.
    pub fn labels_per_sample(&self) -> usize {
        match self.samples.inputs {
            Inputs::Numbers(_) => 1,
            Inputs::Tokens(_) => self.samples.per_sample,
        }
    }

    /// Whether samples are tokens of a text.
    pub fn is_text(&self) -> bool {
        matches!(self.samples.inputs, Inputs::Tokens(_))
    }

    /// Number of classes, whether or not each has a sample: of a text, the different tokens.
    pub fn classes(&self) -> usize {
        self.samples.classes
    }

    /// All features, row-major `[samples, ..sample shape]`; none of a text.
    pub fn features(&self) -> &[f32] {
        match &self.samples.inputs {
            Inputs::Numbers(features) => features,
            Inputs::Tokens(_) => &[],
        }
    }

    /// The class of each sample, `[samples]`, or of each token, `[samples, context]`.
    pub fn labels(&self) -> &[i64] {
        &self.samples.labels
    }

    /// The targets of one sample.
    ///
    /// # Panics
    /// When there is no such sample, as a slice does.
    pub fn labels_of(&self, sample: usize) -> &[i64] {
        let len = self.labels_per_sample();
        &self.labels()[sample * len..(sample + 1) * len]
    }

    /// A shuffled split with `fraction` of the samples, rounded, to train with. Which samples
    /// these are depends on their number and `seed` alone.
    ///
    /// # Errors
    /// A fraction outside of 0 to 1, or one that leaves a part empty.
    pub fn split(&self, fraction: f64, seed: u64) -> Result<Split> {
        let samples = self.len();
        let train = (fraction * samples as f64).round();
        // The negated comparison also refuses a fraction that is NaN.
        if !(fraction > 0.0 && fraction < 1.0 && train >= 1.0 && train < samples as f64) {
            return Err(Error::Split { name: self.name().to_owned(), samples, fraction });
        }
        let order = Stream::new(seed, "data/split", 0).permutation(samples);
        let (train, test) = order.split_at(train as usize);
        Ok(Split { train: self.part("train", train), test: self.part("test", test) })
    }

    /// The samples that `order` names, which must exist.
    fn part(&self, part: &str, order: &[usize]) -> Dataset {
        let labels = order.iter().flat_map(|&sample| self.labels_of(sample)).copied().collect();
        let inputs = match &self.samples.inputs {
            Inputs::Numbers(_) => {
                let features = order.iter().flat_map(|&sample| self.sample(sample));
                Inputs::Numbers(features.copied().collect())
            }
            Inputs::Tokens(_) => {
                let tokens = order.iter().flat_map(|&sample| self.tokens_of(sample));
                Inputs::Tokens(tokens.copied().collect())
            }
        };
        self.like(format!("{}/{part}", self.name()), inputs, order.len(), labels)
    }

    /// Samples of the same shape and classes; the caller keeps the invariants of [`Samples`].
    fn like(&self, name: String, inputs: Inputs, len: usize, labels: Vec<i64>) -> Dataset {
        Dataset {
            samples: Arc::new(Samples {
                name,
                inputs,
                len,
                sample_shape: self.sample_shape().to_vec(),
                per_sample: self.features_per_sample(),
                labels,
                classes: self.classes(),
            }),
        }
    }

    /// The features of one sample of numbers.
    pub(super) fn sample(&self, sample: usize) -> &[f32] {
        let len = self.features_per_sample();
        &self.features()[sample * len..(sample + 1) * len]
    }

    /// The tokens of one sample; none of numbers.
    pub(super) fn tokens_of(&self, sample: usize) -> &[i64] {
        let len = self.features_per_sample();
        match &self.samples.inputs {
            Inputs::Numbers(_) => &[],
            Inputs::Tokens(tokens) => &tokens[sample * len..(sample + 1) * len],
        }
    }

    /// The same samples with every feature as `(x − mean) / std` of its column over all samples.
    ///
    /// The standard deviation is that of the samples themselves (divided by their number, as
    /// scikit-learn's StandardScaler does); a constant column becomes 0. Statistics are f64 sums
    /// in the order of the samples. Tokens stay as they are.
    pub fn standardized(&self) -> Dataset {
        if self.is_text() {
            return self.clone();
        }
        let columns = self.features_per_sample();
        let rows = || (0..self.len()).map(|sample| self.sample(sample));
        let mean_of = |value: &dyn Fn(usize, f32) -> f64| {
            let mut sums = vec![0.0f64; columns];
            for row in rows() {
                for (column, (sum, &x)) in sums.iter_mut().zip(row).enumerate() {
                    *sum += value(column, x);
                }
            }
            sums.into_iter().map(|sum| sum / self.len() as f64).collect::<Vec<f64>>()
        };
        let mean = mean_of(&|_, x| f64::from(x));
        let variance = mean_of(&|column, x| (f64::from(x) - mean[column]).powi(2));
        let scale =
            |column: usize| if variance[column] == 0.0 { 1.0 } else { variance[column].sqrt() };
        let scales: Vec<f64> = (0..columns).map(scale).collect();
        let mut features = Vec::with_capacity(self.features().len());
        for row in rows() {
            let scaled = row.iter().zip(&mean).zip(&scales);
            features.extend(scaled.map(|((&x, mean), std)| ((f64::from(x) - mean) / std) as f32));
        }
        let (name, labels) = (self.name().to_owned(), self.labels().to_vec());
        self.like(name, Inputs::Numbers(features), self.len(), labels)
    }

    /// The samples in global batches of `batch` samples, at first for one epoch with seed 0.
    pub fn batches(&self, batch: usize) -> Batches {
        Batches::new(self.clone(), batch)
    }
}
