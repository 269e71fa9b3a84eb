//! Values against the standard library, slopes against central differences, and the conventions.

use super::*;
use crate::PerOp;

fn points(op: UnaryOp) -> Vec<f64> {
    let positive = matches!(op, UnaryOp::Ln | UnaryOp::Sqrt | UnaryOp::Rsqrt | UnaryOp::Log1p);
    let x = (0..101).map(|i| 2.9 * (1.3 * f64::from(i) + 0.2).sin());
    x.map(|x| if positive { x.abs() + 0.1 } else { x }).collect()
}

fn reference(op: UnaryOp, x: f64) -> f64 {
    let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
    match op {
        UnaryOp::Neg => -x,
        UnaryOp::Abs => x.abs(),
        UnaryOp::Exp => x.exp(),
        UnaryOp::Ln => x.ln(),
        UnaryOp::Sqrt => x.sqrt(),
        UnaryOp::Recip => x.recip(),
        UnaryOp::Square => x.powi(2),
        UnaryOp::Relu => x.max(0.0),
        UnaryOp::Tanh => x.tanh(),
        UnaryOp::Sigmoid => sigmoid(x),
        UnaryOp::Sin => x.sin(),
        UnaryOp::Cos => x.cos(),
        // The standard library has none; `math/gauss.rs` holds it to known values.
        UnaryOp::Erf => Float::erf(x),
        UnaryOp::Gelu => 0.5 * x * (1.0 + Float::erf(x / 2f64.sqrt())),
        UnaryOp::GeluTanh => {
            let inner = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x.powi(3));
            0.5 * x * (1.0 + inner.tanh())
        }
        UnaryOp::Silu => x * sigmoid(x),
        UnaryOp::Softplus => x.exp().ln_1p(),
        UnaryOp::Log1p => f64::ln_1p(x),
        UnaryOp::Rsqrt => x.sqrt().recip(),
        UnaryOp::Sign => x.signum(),
        UnaryOp::Floor => f64::floor(x),
        UnaryOp::Ceil => f64::ceil(x),
        UnaryOp::Round => x.round_ties_even(),
        UnaryOp::LeakyRelu(slope) => x.max(slope * x),
        UnaryOp::Elu(alpha) => x.max(0.0) + alpha * x.min(0.0).exp_m1(),
        UnaryOp::Powf(exponent) => x.powf(exponent),
        UnaryOp::Shift(term) => x + term,
        UnaryOp::Scale(factor) => x * factor,
        UnaryOp::Clamp(min, max) => x.clamp(min, max),
    }
}

#[test]
fn values_follow_the_formulas_and_slopes_the_central_differences() {
    let serial = Threads::serial();
    for op in UnaryOp::ALL {
        let x = points(op);
        let dy: Vec<f64> = x.iter().map(|x| 1.5 + f64::cos(*x)).collect();
        let (mut y, mut dx) = (vec![0.0; x.len()], vec![0.0; x.len()]);
        unary(&serial, op, &x, &mut y);
        unary_vjp(&serial, op, [&x, &y, &dy], &mut dx);
        for i in 0..x.len() {
            let (want, name) = (reference(op, x[i]), op.name());
            let error = (y[i] - want).abs();
            assert!(error <= 1e-14 * want.abs().max(1.0), "{name} {} {error:e}", x[i]);
            let h = 1e-6 * x[i].abs();
            let slope = (reference(op, x[i] + h) - reference(op, x[i] - h)) / (2.0 * h);
            let error = (dx[i] - dy[i] * slope).abs();
            assert!(error <= 1e-6 * (1.0 + slope.abs()), "{name} {} {error:e}", x[i]);
        }
    }
}

/// The value and the slope at one point, computed alone, as no vectorised loop would.
struct Point([f32; 2], f32);

impl PerOp for Point {
    type Output = (f32, f32);
    fn run<const OP: u32>(self) -> (f32, f32) {
        let y = formula::value::<OP, f32>(self.0, self.1);
        (y, formula::slope::<OP, f32>(self.0, self.1, y))
    }
}

fn point(op: UnaryOp, x: f32) -> (f32, f32) {
    op.dispatch(Point(op.settings().map(|setting| setting as f32), x))
}

fn value(op: UnaryOp, x: f32) -> f32 {
    point(op, x).0
}

fn slope(op: UnaryOp, x: f32) -> f32 {
    point(op, x).1
}

#[test]
fn the_conventions_at_kinks_and_specials_hold() {
    for op in UnaryOp::ALL {
        assert!(value(op, f32::NAN).is_nan(), "{}", op.name());
    }
    assert_eq!(value(UnaryOp::Relu, -0.0).to_bits(), 0);
    assert_eq!(slope(UnaryOp::Relu, 0.0), 0.0);
    assert_eq!(slope(UnaryOp::Relu, f32::NAN), 1.0);
    assert_eq!(slope(UnaryOp::Relu, f32::from_bits(1)), 1.0);
    assert_eq!((slope(UnaryOp::Abs, 0.0), slope(UnaryOp::Abs, -0.0)), (0.0, 0.0));
    assert_eq!((slope(UnaryOp::Abs, -2.0), slope(UnaryOp::Abs, 2.0)), (-1.0, 1.0));
    assert_eq!(value(UnaryOp::Sign, -0.0).to_bits(), (-0.0f32).to_bits());
    let clamp = UnaryOp::Clamp(-1.0, 1.0);
    assert_eq!([-1.5, -1.0, 1.0, 1.5].map(|x| slope(clamp, x)), [0.0; 4]);
    assert_eq!(slope(clamp, 0.5), 1.0);
    assert_eq!(slope(UnaryOp::LeakyRelu(0.25), 0.0), 0.25);
    for op in [UnaryOp::Sign, UnaryOp::Floor, UnaryOp::Ceil, UnaryOp::Round] {
        assert_eq!(slope(op, 1.5), 0.0);
    }
}

#[test]
fn powers_of_zero_and_of_negative_numbers_have_their_values_and_slopes() {
    assert_eq!((value(UnaryOp::Powf(0.0), 0.0), slope(UnaryOp::Powf(0.0), 0.0)), (1.0, 0.0));
    assert_eq!((value(UnaryOp::Powf(2.0), 0.0), slope(UnaryOp::Powf(2.0), 0.0)), (0.0, 0.0));
    assert_eq!((value(UnaryOp::Powf(1.0), 0.0), slope(UnaryOp::Powf(1.0), 0.0)), (0.0, 1.0));
    let cube = UnaryOp::Powf(3.0);
    assert!((value(cube, -2.0) + 8.0).abs() < 1e-6 && (slope(cube, -2.0) - 12.0).abs() < 1e-6);
    assert!(value(UnaryOp::Powf(0.5), -2.0).is_nan());
}

#[test]
fn saturated_functions_are_finite_and_right() {
    use UnaryOp::{Elu, Erf, Gelu, GeluTanh, Sigmoid, Silu, Softplus, Tanh};
    assert_eq!(value(Sigmoid, -100.0), 3.8e-44);
    assert_eq!((value(Sigmoid, 200.0), value(Sigmoid, -200.0)), (1.0, 0.0));
    assert_eq!((slope(Sigmoid, 200.0), slope(Sigmoid, -200.0)), (0.0, 0.0));
    assert_eq!((slope(Silu, 0.0), slope(Elu(1.0), 1000.0)), (0.5, 1.0));
    for (op, below) in [(Gelu, 0.0), (GeluTanh, 0.0), (Silu, 0.0), (Softplus, 0.0)] {
        for far in [1000.0, 1e30, f32::INFINITY] {
            assert_eq!((value(op, far), value(op, -far)), (far, below), "{}", op.name());
            assert_eq!((slope(op, far), slope(op, -far)), (1.0, 0.0), "{} {far}", op.name());
        }
    }
    assert_eq!((value(Elu(2.0), -1000.0), slope(Elu(2.0), -1000.0)), (-2.0, 0.0));
    assert_eq!((value(Tanh, 50.0), slope(Tanh, 50.0)), (1.0, 0.0));
    assert_eq!((value(Erf, -50.0), slope(Erf, -50.0)), (-1.0, 0.0));
}

#[test]
fn neither_threads_nor_neighbours_change_a_bit() {
    let len = 2 * MIN_PART + 3;
    let x: Vec<f32> = (0..len).map(|i| (0.37 * i as f32).sin() + 1.1).collect();
    let threads = Threads::new(3).unwrap();
    for op in UnaryOp::ALL {
        let (mut y, mut dx) = (vec![0.0; len], vec![0.0; len]);
        unary(&threads, op, &x, &mut y);
        unary_vjp(&threads, op, [&x, &y, &x], &mut dx);
        for i in (0..len).step_by(997).chain(len - 20..len) {
            let (alone, slope) = point(op, x[i]);
            assert_eq!(y[i].to_bits(), alone.to_bits(), "{}", op.name());
            assert_eq!(dx[i].to_bits(), (x[i] * slope).to_bits(), "{}", op.name());
        }
    }
}
