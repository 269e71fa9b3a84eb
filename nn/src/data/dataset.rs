//! Samples in memory, and how they are split.

use std::sync::Arc;

use kernels::random::Stream;

use super::batches::Batches;
use super::error::{Error, Result};

/// Samples: f32 features, row-major `[samples, ..sample shape]`, and one class for each.
///
/// Clones share the samples.
#[derive(Clone, Debug)]
pub struct Dataset {
    samples: Arc<Samples>,
}

/// Invariants, checked by [`Dataset::new`]: `features` holds `labels.len()` samples of
/// `features_per_sample`, which is the product of `sample_shape`; labels lie in `0..classes`.
#[derive(Debug)]
struct Samples {
    name: String,
    features: Vec<f32>,
    sample_shape: Vec<usize>,
    features_per_sample: usize,
    labels: Vec<i64>,
    classes: usize,
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
        let Some(features_per_sample) = per_sample.filter(|&n| fits(n)) else {
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
        let sample_shape = sample_shape.to_vec();
        Ok(Dataset {
            samples: Arc::new(Samples {
                name,
                features,
                sample_shape,
                features_per_sample,
                labels,
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
        self.samples.labels.len()
    }

    /// Whether there are no samples.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The shape of one sample, `[]` if it is a single number.
    pub fn sample_shape(&self) -> &[usize] {
        &self.samples.sample_shape
    }

    /// Features of one sample: the product of its shape.
    pub fn features_per_sample(&self) -> usize {
        self.samples.features_per_sample
    }

    /// Number of classes, whether or not each has a sample.
    pub fn classes(&self) -> usize {
        self.samples.classes
    }

    /// All features, row-major `[samples, ..sample shape]`.
    pub fn features(&self) -> &[f32] {
        &self.samples.features
    }

    /// The class of each sample: `[samples]`.
    pub fn labels(&self) -> &[i64] {
        &self.samples.labels
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
        let mut features = Vec::with_capacity(order.len() * self.features_per_sample());
        for &sample in order {
            features.extend_from_slice(self.sample(sample));
        }
        let labels = order.iter().map(|&sample| self.labels()[sample]).collect();
        self.like(format!("{}/{part}", self.name()), features, labels)
    }

    /// Samples of the same shape and classes; the caller keeps the invariants of [`Samples`].
    fn like(&self, name: String, features: Vec<f32>, labels: Vec<i64>) -> Dataset {
        Dataset {
            samples: Arc::new(Samples {
                name,
                features,
                sample_shape: self.sample_shape().to_vec(),
                features_per_sample: self.features_per_sample(),
                labels,
                classes: self.classes(),
            }),
        }
    }

    /// The features of one sample.
    pub(super) fn sample(&self, sample: usize) -> &[f32] {
        let len = self.features_per_sample();
        &self.features()[sample * len..(sample + 1) * len]
    }

    /// The same samples with every feature as `(x − mean) / std` of its column over all samples.
    ///
    /// The standard deviation is that of the samples themselves (divided by their number, as
    /// scikit-learn's StandardScaler does); a constant column becomes 0. Statistics are f64 sums
    /// in the order of the samples.
    pub fn standardized(&self) -> Dataset {
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
        self.like(self.name().to_owned(), features, self.labels().to_vec())
    }

    /// The samples in global batches of `batch` samples, at first for one epoch with seed 0.
    pub fn batches(&self, batch: usize) -> Batches {
        Batches::new(self.clone(), batch)
    }
}
