//! Layer normalization against its formula in f64, at lengths around the width of a register.

use super::*;

fn numbers(len: usize, phase: f32) -> Vec<f32> {
    (0..len).map(|i| 1.5 * (1.3 * i as f32 + phase).sin() + 0.2).collect()
}

struct Case {
    len: usize,
    x: Vec<f32>,
    dy: Vec<f32>,
    weight: Option<Vec<f32>>,
    bias: Option<Vec<f32>>,
}

impl Case {
    fn new(rows: usize, len: usize, [weight, bias]: [bool; 2]) -> Self {
        Case {
            len,
            x: numbers(rows * len, 0.1),
            dy: numbers(rows * len, 0.8),
            weight: weight.then(|| numbers(len, 1.7)),
            bias: bias.then(|| numbers(len, 2.9)),
        }
    }

    /// y, mean, rstd, dx and dw.
    fn run(&self, threads: &Threads) -> [Vec<f32>; 5] {
        let rows = self.x.len().checked_div(self.len).unwrap_or(0);
        let (mut y, mut mean) = (vec![f32::NAN; self.x.len()], vec![f32::NAN; rows]);
        let (mut rstd, mut dx) = (mean.clone(), y.clone());
        let mut dw = vec![f32::NAN; self.len];
        let affine = [self.weight.as_deref(), self.bias.as_deref()];
        let outputs = [&mut y[..], &mut mean, &mut rstd];
        layer_norm(threads, &self.x, affine, (self.len, 1e-5), outputs);
        let moments = Moments { mean: &mean, rstd: &rstd };
        layer_norm_vjp(threads, [&self.x, &self.dy], affine[0], moments, &mut dx);
        layer_norm_weight_vjp(threads, [&self.x, &self.dy], moments, &mut dw);
        [y, mean, rstd, dx, dw]
    }

    /// y, dx and dw by the formulas, in f64.
    fn reference(&self) -> [Vec<f64>; 3] {
        let len = self.len;
        let (mut y, mut dx, mut dw) = (vec![], vec![], vec![0.0; len]);
        let at = |p: &Option<Vec<f32>>, i: usize| p.as_ref().map(|p| f64::from(p[i]));
        for (x, dy) in self.x.chunks(len.max(1)).zip(self.dy.chunks(len.max(1))) {
            let n = len as f64;
            let mean = x.iter().map(|&x| f64::from(x)).sum::<f64>() / n;
            let var = x.iter().map(|&x| (f64::from(x) - mean).powi(2)).sum::<f64>() / n;
            let r = 1.0 / (var + 1e-5).sqrt();
            let hat: Vec<f64> = x.iter().map(|&x| (f64::from(x) - mean) * r).collect();
            let weight = |i| at(&self.weight, i).unwrap_or(1.0);
            let g: Vec<f64> = (0..len).map(|i| f64::from(dy[i]) * weight(i)).collect();
            let mean_g = g.iter().sum::<f64>() / n;
            let mean_gx = g.iter().zip(&hat).map(|(g, x)| g * x).sum::<f64>() / n;
            for i in 0..len {
                y.push(hat[i] * weight(i) + at(&self.bias, i).unwrap_or(0.0));
                dx.push(r * (g[i] - mean_g - hat[i] * mean_gx));
                dw[i] += f64::from(dy[i]) * hat[i];
            }
        }
        [y, dx, dw]
    }
}

fn near(got: &[f32], want: &[f64], what: &str) {
    assert_eq!(got.len(), want.len());
    let size = want.iter().fold(1.0f64, |m, x| m.max(x.abs()));
    for (got, want) in got.iter().zip(want) {
        assert!((f64::from(*got) - want).abs() <= 3e-6 * size, "{what}: {got} {want}");
    }
}

fn bits(x: &[f32]) -> Vec<u32> {
    x.iter().map(|x| x.to_bits()).collect()
}

#[test]
fn values_and_derivatives_agree_with_the_formulas_in_f64() {
    for affine in [[true, true], [true, false], [false, true], [false, false]] {
        for len in (0..=35).chain([64, 128, 131]) {
            // One element has no spread: its derivative is a difference of rounded terms.
            for rows in [0, 1, 5] {
                let case = Case::new(rows, len, affine);
                let [y, _, _, dx, dw] = case.run(&Threads::serial());
                let want = case.reference();
                near(&y, &want[0], "y");
                near(&dw, &want[2], "dw");
                if len > 2 {
                    near(&dx, &want[1], "dx");
                }
            }
        }
    }
}

#[test]
fn neither_threads_nor_other_rows_change_a_bit() {
    let rows = 2 * MIN_PART / 37 + 5;
    let case = Case::new(rows, 37, [true, true]);
    let serial = case.run(&Threads::serial());
    for (a, b) in serial.iter().zip(case.run(&Threads::new(3).unwrap())) {
        assert_eq!(bits(a), bits(&b));
    }
    for row in (0..rows).step_by(97) {
        let part = row * 37..(row + 1) * 37;
        let (x, dy) = (case.x[part.clone()].to_vec(), case.dy[part.clone()].to_vec());
        let alone = Case { x, dy, ..Case::new(0, 37, [true, true]) }.run(&Threads::serial());
        assert_eq!(bits(&alone[0]), bits(&serial[0][part.clone()]));
        assert_eq!(bits(&alone[3]), bits(&serial[3][part]));
    }
}

#[test]
fn constant_rows_become_the_bias_and_broken_rows_stay_among_themselves() {
    let case = Case {
        len: 3,
        x: vec![0.1, 0.1, 0.1, f32::NAN, 1.0, 2.0, 1.0, f32::INFINITY, 0.0, 1.0, 2.0, 3.0],
        dy: numbers(12, 0.8),
        weight: Some(vec![2.0, 3.0, 4.0]),
        bias: Some(vec![0.5, 0.25, 8.0]),
    };
    let [y, _, _, dx, dw] = case.run(&Threads::serial());
    assert_eq!(y[..3], [0.5, 0.25, 8.0]);
    assert!(dx[..3].iter().all(|x| x.is_finite()), "{dx:?}");
    assert!(y[3..9].iter().chain(&dx[3..9]).all(|x| x.is_nan()));
    assert!(y[9..].iter().chain(&dx[9..]).all(|x| x.is_finite()));
    assert!(dw.iter().all(|x| x.is_nan()));
}
