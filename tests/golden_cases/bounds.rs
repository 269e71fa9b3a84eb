//! When a number is close enough: the bounds of `tests/golden/README.md`.

use std::collections::BTreeMap;
use std::fmt::Write;

use ringgrad::tensor::DType;

/// `|x − y| ≤ TOLERANCE · (|y| + max |y|)`.
pub(crate) fn tolerance(dtype: DType) -> f64 {
    match dtype {
        DType::F32 => 1e-5,
        DType::F64 => 1e-12,
        other => panic!("no bound is defined for {other}"),
    }
}

/// The largest error in units of its bound: at most 1 passes. NaNs and infinities must match
/// exactly; one that does not, or another length, is an infinite error.
pub(crate) fn error(found: &[f64], wanted: &[f64], tolerance: f64) -> f64 {
    if found.len() != wanted.len() {
        return f64::INFINITY;
    }
    let finite = wanted.iter().filter(|y| y.is_finite());
    let largest = finite.fold(0.0f64, |m, y| m.max(y.abs()));
    let one = |(x, y): (&f64, &f64)| {
        if x == y || (x.is_nan() && y.is_nan()) {
            return 0.0;
        }
        if !x.is_finite() || !y.is_finite() {
            return f64::INFINITY;
        }
        let bound = tolerance * (y.abs() + largest);
        if bound == 0.0 { f64::INFINITY } else { (x - y).abs() / bound }
    };
    found.iter().zip(wanted).map(one).fold(0.0, f64::max)
}

/// The worst error of each op, and what failed.
#[derive(Default)]
pub(crate) struct Tally {
    cases: usize,
    worst: BTreeMap<String, f64>,
    failures: Vec<String>,
}

impl Tally {
    /// Notes a case of `op` that ended with this error, or did not run.
    pub(crate) fn note(&mut self, id: &str, op: &str, outcome: Result<f64, String>) {
        self.cases += 1;
        let worst = self.worst.entry(op.to_owned()).or_insert(0.0);
        match outcome {
            Ok(error) => {
                *worst = worst.max(error);
                if error > 1.0 {
                    self.failures.push(format!("{id}: {error:.3} times its bound"));
                }
            }
            Err(reason) => {
                *worst = f64::INFINITY;
                self.failures.push(format!("{id}: {reason}"));
            }
        }
    }

    /// Prints how many cases ran and how close each op is, and fails when one was not.
    pub(crate) fn finish(&self, file: &str) {
        let mut line = format!("{file}: {} cases ran; worst errors, 1 is the bound:", self.cases);
        for (op, worst) in &self.worst {
            write!(line, " {op} {worst:.2}").unwrap();
        }
        println!("{line}");
        assert!(self.cases > 0, "{file}: no case was found");
        assert!(self.failures.is_empty(), "{file}:\n{}", self.failures.join("\n"));
    }
}
