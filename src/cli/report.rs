//! What a run says at its end, for people and as JSON.

use ringgrad::TimeShare;
use ringgrad::ulps::Distance;
use serde_json::{Value, json};

use super::Failure;

/// The figures of `ringgrad train`.
pub(crate) struct TrainReport {
    pub(crate) test_accuracy: f64,
    pub(crate) test_loss: f64,
    pub(crate) train_loss: f64,
    pub(crate) steps: usize,
    /// Median over the steps of rank 0.
    pub(crate) step_ms: f64,
    pub(crate) ranks: usize,
    pub(crate) shards: usize,
    pub(crate) algorithm: &'static str,
    pub(crate) time_share: TimeShare,
    /// To one worker with the same shards, when that was run.
    pub(crate) equivalence: Option<Distance>,
    /// To one pass over each whole batch, when that was run.
    pub(crate) large_batch: Option<Distance>,
    pub(crate) params_sha256: String,
    /// The first epoch, counted from 0, after which a rank had drifted, and that rank.
    pub(crate) drift: Option<(usize, usize)>,
    /// Whether the synchronisation was broken on purpose.
    pub(crate) broken: bool,
    /// Whether a loss or a parameter is not a finite number.
    pub(crate) diverged: bool,
    /// What a network of text wrote.
    pub(crate) sample: Option<String>,
}

impl TrainReport {
    pub(crate) fn print(&self, as_json: bool) -> Result<(), Failure> {
        super::print(&if as_json { self.json().to_string() } else { self.text() })
    }

    fn json(&self) -> Value {
        let distance = |d: &Option<Distance>| match d {
            Some(d) => json!({ "max_abs": d.max_abs, "max_ulps": d.max_ulps }),
            None => Value::Null,
        };
        let TimeShare { compute, reduce, wait } = self.time_share;
        let mut report = json!({
            "test_accuracy": self.test_accuracy,
            "test_loss": self.test_loss,
            "train_loss": self.train_loss,
            "steps": self.steps,
            "step_ms": self.step_ms,
            "ranks": self.ranks,
            "shards": self.shards,
            "device": "cpu",
            "algorithm": self.algorithm,
            "time_share": { "compute": compute, "reduce": reduce, "wait": wait },
            "equivalence": distance(&self.equivalence),
            "large_batch": distance(&self.large_batch),
            "params_sha256": self.params_sha256,
            "diverged": self.diverged,
        });
        if self.broken {
            report["drift"] = match self.drift {
                Some((epoch, rank)) => json!({ "epoch": epoch + 1, "rank": rank }),
                None => Value::Null,
            };
        }
        if let Some(sample) = &self.sample {
            report["sample"] = sample.as_str().into();
        }
        report
    }

    fn text(&self) -> String {
        let mut lines = vec![format!(
            "test accuracy {:.2} %, test loss {:.4}, train loss {:.4} after {} steps of {:.3} ms",
            self.test_accuracy * 100.0,
            self.test_loss,
            self.train_loss,
            self.steps,
            self.step_ms
        )];
        if self.broken {
            lines.push(self.drift_text());
        }
        let far = |d: &Distance| match d.max_abs {
            0.0 => format!("0 ({} ulps)", d.max_ulps),
            abs => format!("{abs:.1e} ({} ulps)", d.max_ulps),
        };
        if let Some(distance) = &self.equivalence {
            lines.push(format!(
                "equivalence: {} ranks and one worker with the same {} shards differ by {}",
                self.ranks,
                self.shards,
                far(distance)
            ));
        }
        if let Some(distance) = &self.large_batch {
            lines.push(format!(
                "large batch: {} ranks and one pass over each whole batch differ by {}",
                self.ranks,
                far(distance)
            ));
        }
        if let Some(sample) = &self.sample {
            lines.push(format!("a sample of what the network writes:\n{sample}"));
        }
        lines.join("\n")
    }

    fn drift_text(&self) -> String {
        match self.drift {
            Some((epoch, rank)) => format!(
                "replicas drifted apart: after epoch {} rank {rank} no longer held the parameters \
                 of rank 0",
                epoch + 1
            ),
            None if self.ranks == 1 => {
                "replicas are equal, although the synchronisation is broken: with one rank there \
                 is nothing to synchronise"
                    .to_owned()
            }
            None => format!(
                "replicas are equal, although the synchronisation is broken: after every epoch \
                 all {} ranks happened to hold the same parameters",
                self.ranks
            ),
        }
    }
}
