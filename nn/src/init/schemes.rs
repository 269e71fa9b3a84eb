//! Starts that are named after those who proposed them.

use std::cell::OnceCell;

use super::Init;
use crate::error::Result;
use crate::parameter::Parameter;

/// Draws of one element of a truncated normal start. All lie outside with a likelihood of 10⁻²¹.
const DRAWS: u64 = 16;

/// The number of inputs and outputs of a unit, `(fan_in, fan_out)`, of a weight `[out, in, ..]`: a
/// linear layer's `[out, in]`, or a convolution's with its kernel behind, every element of which
/// counts.
pub fn fans(shape: &[usize]) -> (usize, usize) {
    let without = |axis: usize| {
        let others = shape.iter().enumerate().filter(|(i, _)| *i != axis);
        others.fold(1usize, |product, (_, &size)| product.saturating_mul(size))
    };
    (without(0), without(1))
}

/// The bound of a uniform distribution with standard deviation 1.
fn unit_bound() -> f64 {
    3f64.sqrt()
}

/// All of these refuse what [`Init::uniform`] refuses.
impl Init {
    /// A parameter of normal numbers with mean 0 and standard deviation `std`.
    ///
    /// # Errors
    /// An impossible shape or one too large for the memory, or a type that has no gradients.
    pub fn normal(&self, name: &str, shape: &[usize], std: f64) -> Result<Parameter> {
        self.drawn(name, shape, |stream, i| std * stream.normal(i))
    }

    /// A parameter of normal numbers with mean 0 and standard deviation `std` before those beyond
    /// `±2 · std` were drawn again: 0.880 · `std` after.
    ///
    /// # Errors
    /// An impossible shape or one too large for the memory, or a type that has no gradients.
    pub fn truncated_normal(&self, name: &str, shape: &[usize], std: f64) -> Result<Parameter> {
        self.drawn(name, shape, |stream, i| {
            let mut draws = (0..DRAWS).map(|k| stream.normal(i * DRAWS + k));
            std * draws.find(|x| x.abs() <= 2.0).unwrap_or(0.0)
        })
    }

    /// Glorot and Bengio's uniform start: bound `gain · √(6 / (fan_in + fan_out))` ("Understanding
    /// the difficulty of training deep feedforward neural networks", 2010, eq. 16).
    ///
    /// # Errors
    /// An impossible shape or one too large for the memory, or a type that has no gradients.
    pub fn xavier_uniform(&self, name: &str, shape: &[usize], gain: f64) -> Result<Parameter> {
        self.uniform(name, shape, unit_bound() * xavier_std(shape, gain))
    }

    /// The normal start of the same variance: `gain² · 2 / (fan_in + fan_out)`.
    ///
    /// # Errors
    /// An impossible shape or one too large for the memory, or a type that has no gradients.
    pub fn xavier_normal(&self, name: &str, shape: &[usize], gain: f64) -> Result<Parameter> {
        self.normal(name, shape, xavier_std(shape, gain))
    }

    /// He's uniform start for a layer of `fan` inputs, or outputs where it is the backward's
    /// variance that is kept: bound `gain · √(3 / fan)`; gain `√2` for relu (He et al. 2015,
    /// "Delving deep into rectifiers", eqs. 10 and 14).
    ///
    /// # Errors
    /// An impossible shape or one too large for the memory, or a type that has no gradients.
    pub fn he_uniform(
        &self,
        name: &str,
        shape: &[usize],
        fan: usize,
        gain: f64,
    ) -> Result<Parameter> {
        self.uniform(name, shape, unit_bound() * he_std(fan, gain))
    }

    /// The normal start of the same variance: `gain² / fan`.
    ///
    /// # Errors
    /// An impossible shape or one too large for the memory, or a type that has no gradients.
    pub fn he_normal(
        &self,
        name: &str,
        shape: &[usize],
        fan: usize,
        gain: f64,
    ) -> Result<Parameter> {
        self.normal(name, shape, he_std(fan, gain))
    }

    /// `gain` times a random matrix `[shape[0], the rest]` with orthonormal rows, or columns where
    /// there are fewer (Saxe, McClelland and Ganguli 2014, "Exact solutions to the nonlinear
    /// dynamics of learning in deep linear neural networks"): the Q of a normal matrix whose R has
    /// a positive diagonal, computed in f64.
    ///
    /// # Errors
    /// An impossible shape or one too large for the memory, or a type that has no gradients.
    pub fn orthogonal(&self, name: &str, shape: &[usize], gain: f64) -> Result<Parameter> {
        let rows = shape.first().copied().unwrap_or(1);
        let columns = fans(shape).0;
        let (count, len) = (rows.min(columns), rows.max(columns));
        // Computed at the first element, when the memory for all has been granted.
        let vectors = OnceCell::new();
        self.drawn(name, shape, |stream, i| {
            let vectors = vectors.get_or_init(|| {
                let normal = |k: usize| stream.normal(k as u64);
                orthonormal((0..count * len).map(normal).collect(), len)
            });
            let (row, column) = (i as usize / columns, i as usize % columns);
            let (vector, place) = if rows <= columns { (row, column) } else { (column, row) };
            gain * vectors[vector * len + place]
        })
    }
}

fn xavier_std(shape: &[usize], gain: f64) -> f64 {
    let (fan_in, fan_out) = fans(shape);
    gain * (2.0 / fan_in.saturating_add(fan_out).max(1) as f64).sqrt()
}

fn he_std(fan: usize, gain: f64) -> f64 {
    gain / (fan.max(1) as f64).sqrt()
}

/// Vectors of `len` elements, one after the other, made orthonormal in their order: Gram and
/// Schmidt's way, each projection taken off twice, so that roundings do not add up.
fn orthonormal(mut vectors: Vec<f64>, len: usize) -> Vec<f64> {
    let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).fold(0.0, |sum, (x, y)| sum + x * y);
    for start in (0..vectors.len()).step_by(len.max(1)) {
        let (before, rest) = vectors.split_at_mut(start);
        let vector = &mut rest[..len];
        for earlier in before.chunks_exact(len).chain(before.chunks_exact(len)) {
            let along = dot(earlier, vector);
            vector.iter_mut().zip(earlier).for_each(|(x, e)| *x -= along * e);
        }
        let norm = dot(vector, vector).sqrt();
        vector.iter_mut().for_each(|x| *x /= norm);
    }
    vectors
}

#[cfg(test)]
mod tests {
    use tensor::{DType, Device};

    use super::*;

    fn init() -> Init {
        Init::new(&Device::cpu(), 3).at("layer").dtype(DType::F64)
    }

    fn values(parameter: Parameter) -> Vec<f64> {
        parameter.value().cast(DType::F64).unwrap().to_vec().unwrap()
    }

    /// Mean 0 and this standard deviation, each within four standard errors or so.
    fn assert_moments(x: &[f64], std: f64) {
        let n = x.len() as f64;
        let mean = x.iter().sum::<f64>() / n;
        let square = x.iter().map(|x| x * x).sum::<f64>() / n;
        assert!(mean.abs() < 4.0 * std / n.sqrt(), "mean {mean}");
        assert!((square / (std * std) - 1.0).abs() < 6.0 / n.sqrt(), "{} {std}", square.sqrt());
    }

    #[test]
    fn fans_count_the_kernel() {
        assert_eq!(fans(&[48, 64]), (64, 48));
        assert_eq!(fans(&[16, 8, 3, 5]), (8 * 15, 16 * 15));
        assert_eq!((fans(&[7]), fans(&[])), ((1, 7), (1, 1)));
    }

    #[test]
    fn every_start_has_its_variance_and_bound() {
        let shape = &[200, 300];
        let (xavier, he) = ((2.0f64 / 500.0).sqrt(), (2.0f64 / 300.0).sqrt());
        let relu = 2f64.sqrt();
        assert_moments(&values(init().normal("w", shape, 0.5).unwrap()), 0.5);
        for (uniform, std) in [
            (init().xavier_uniform("w", shape, 1.0), xavier),
            (init().xavier_uniform("w", shape, 3.0), 3.0 * xavier),
            (init().he_uniform("w", shape, 300, relu), he),
        ] {
            let x = values(uniform.unwrap());
            assert_moments(&x, std);
            let most = x.iter().fold(0.0f64, |most, x| most.max(x.abs()));
            assert!(most <= 3f64.sqrt() * std && most > 1.73 * std, "{most}");
        }
        assert_moments(&values(init().xavier_normal("w", shape, 1.0).unwrap()), xavier);
        assert_moments(&values(init().he_normal("w", shape, 300, relu).unwrap()), he);
        let cut = values(init().truncated_normal("w", shape, 0.5).unwrap());
        assert_moments(&cut, 0.5 * 0.879_626);
        assert!(cut.iter().all(|x| x.abs() <= 1.0) && cut.iter().any(|x| x.abs() > 0.999));
    }

    #[test]
    fn an_orthogonal_start_is_orthogonal() {
        for shape in [&[5, 5][..], &[3, 8], &[8, 3], &[6, 2, 2, 2], &[1, 4], &[4]] {
            let x = values(init().orthogonal("w", shape, 2.0).unwrap());
            let (rows, columns) = (shape[0], x.len() / shape[0]);
            let at = |vector: usize, place: usize| match rows <= columns {
                true => x[vector * columns + place],
                false => x[place * columns + vector],
            };
            for i in 0..rows.min(columns) {
                for j in 0..rows.min(columns) {
                    let dot: f64 = (0..rows.max(columns)).map(|k| at(i, k) * at(j, k)).sum();
                    let want = if i == j { 4.0 } else { 0.0 };
                    assert!((dot - want).abs() < 1e-12, "{shape:?} {i} {j}: {dot}");
                }
            }
        }
        // Haar's distribution: the first element of a 1 × 2 matrix is a cosine of any angle.
        let cosines: Vec<f64> = (0..4000)
            .map(|i| values(init().at(i).orthogonal("w", &[1, 2], 1.0).unwrap())[0])
            .collect();
        assert_moments(&cosines, 0.5f64.sqrt());
    }

    #[test]
    fn f32_holds_the_rounded_numbers_of_f64_and_names_have_their_own() {
        type Make = fn(&Init, &str) -> Result<Parameter>;
        let starts: [Make; 4] = [
            |init, name| init.normal(name, &[4, 6], 0.3),
            |init, name| init.truncated_normal(name, &[4, 6], 0.3),
            |init, name| init.he_uniform(name, &[4, 6], 6, 1.0),
            |init, name| init.orthogonal(name, &[4, 6], 1.0),
        ];
        for start in starts {
            let wide = values(start(&init(), "w").unwrap());
            let narrow = start(&init().dtype(DType::F32), "w").unwrap();
            let rounded: Vec<f32> = wide.iter().map(|&x| x as f32).collect();
            assert_eq!(narrow.value().to_vec::<f32>().unwrap(), rounded);
            assert_ne!(values(start(&init(), "v").unwrap()), wide);
            assert!(start(&init().dtype(DType::I64), "w").is_err());
        }
    }
}
