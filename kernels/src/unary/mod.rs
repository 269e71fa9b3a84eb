//! `y = f(x)` elementwise, and `dx = dy · f'(x)`.
//!
//! One table: each op's value and slope stand side by side in [`UnaryOp::value`] and
//! [`UnaryOp::slope`]. The slope may use x, y or both, whichever is cheaper or closer.
//!
//! Conventions: a NaN stays a NaN, also through relu. At kinks `relu'(0) = 0` and
//! `abs'(0) = 0`; `relu(−0) = +0`. As relu passes a NaN on, its slope there is 1. The vjp is a
//! product everywhere, so an infinite `dy` meets a slope of 0 as NaN.

mod cpu;

use crate::{Float, Threads};

/// Elements below which a part is not worth handing to another thread.
const MIN_PART: usize = 1 << 16;

/// An elementwise function of one variable. The numbers are shared with device code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum UnaryOp {
    /// `−x`
    Neg = 0,
    /// `|x|`
    Abs = 1,
    /// `eˣ`
    Exp = 2,
    /// `ln x`: −∞ at 0, NaN below.
    Ln = 3,
    /// `√x`: NaN below 0.
    Sqrt = 4,
    /// `1 / x`
    Recip = 5,
    /// `x²`
    Square = 6,
    /// `max(x, 0)`
    Relu = 7,
    /// `tanh x`
    Tanh = 8,
    /// `1 / (1 + e⁻ˣ)`
    Sigmoid = 9,
}

impl UnaryOp {
    /// Every op, in the order of its number.
    pub const ALL: [UnaryOp; 10] = [
        UnaryOp::Neg,
        UnaryOp::Abs,
        UnaryOp::Exp,
        UnaryOp::Ln,
        UnaryOp::Sqrt,
        UnaryOp::Recip,
        UnaryOp::Square,
        UnaryOp::Relu,
        UnaryOp::Tanh,
        UnaryOp::Sigmoid,
    ];

    /// The lower-case name used in messages.
    pub const fn name(self) -> &'static str {
        match self {
            UnaryOp::Neg => "neg",
            UnaryOp::Abs => "abs",
            UnaryOp::Exp => "exp",
            UnaryOp::Ln => "ln",
            UnaryOp::Sqrt => "sqrt",
            UnaryOp::Recip => "recip",
            UnaryOp::Square => "square",
            UnaryOp::Relu => "relu",
            UnaryOp::Tanh => "tanh",
            UnaryOp::Sigmoid => "sigmoid",
        }
    }

    /// `f(x)`.
    #[inline(always)]
    pub fn value<T: Float>(self, x: T) -> T {
        match self {
            UnaryOp::Neg => -x,
            UnaryOp::Abs => x.abs(),
            UnaryOp::Exp => x.exp(),
            UnaryOp::Ln => x.ln(),
            UnaryOp::Sqrt => x.sqrt(),
            UnaryOp::Recip => T::ONE / x,
            UnaryOp::Square => x * x,
            UnaryOp::Relu => {
                // This way round a NaN, which compares false, is kept.
                if x <= T::ZERO { T::ZERO } else { x }
            }
            UnaryOp::Tanh => x.tanh(),
            UnaryOp::Sigmoid => {
                // eˣ / (1 + eˣ) for negative x: no overflow, and small results keep their digits.
                let e = (-x.abs()).exp();
                let numerator = if x < T::ZERO { e } else { T::ONE };
                numerator / (T::ONE + e)
            }
        }
    }

    /// `f'(x)`, where `y = f(x)`.
    #[inline(always)]
    pub fn slope<T: Float>(self, x: T, y: T) -> T {
        match self {
            UnaryOp::Neg => -T::ONE,
            UnaryOp::Abs => {
                let side = if x < T::ZERO { -T::ONE } else { T::ONE };
                if x == T::ZERO { T::ZERO } else { side }
            }
            UnaryOp::Exp => y,
            UnaryOp::Ln => T::ONE / x,
            UnaryOp::Sqrt => T::from_f64(0.5) / y,
            UnaryOp::Recip => -(y * y),
            UnaryOp::Square => x + x,
            UnaryOp::Relu => {
                if x <= T::ZERO {
                    T::ZERO
                } else {
                    T::ONE
                }
            }
            // Not 1 − y²: 1 − y is exact where y is near 1.
            UnaryOp::Tanh => (T::ONE - y) * (T::ONE + y),
            UnaryOp::Sigmoid => y * (T::ONE - y),
        }
    }

    /// Calls `body` with this op as a constant, so that a loop in an inlined `body` is compiled
    /// once for each op and has no match inside.
    #[inline(always)]
    fn fixed(self, body: impl FnOnce(UnaryOp)) {
        match self {
            UnaryOp::Neg => body(UnaryOp::Neg),
            UnaryOp::Abs => body(UnaryOp::Abs),
            UnaryOp::Exp => body(UnaryOp::Exp),
            UnaryOp::Ln => body(UnaryOp::Ln),
            UnaryOp::Sqrt => body(UnaryOp::Sqrt),
            UnaryOp::Recip => body(UnaryOp::Recip),
            UnaryOp::Square => body(UnaryOp::Square),
            UnaryOp::Relu => body(UnaryOp::Relu),
            UnaryOp::Tanh => body(UnaryOp::Tanh),
            UnaryOp::Sigmoid => body(UnaryOp::Sigmoid),
        }
    }
}

/// `out[i] = f(x[i])`.
///
/// # Panics
/// When the lengths differ.
pub fn unary<T: Float>(threads: &Threads, op: UnaryOp, x: &[T], out: &mut [T]) {
    assert_eq!(x.len(), out.len(), "one result an element");
    let parts = threads.parts(out.len(), MIN_PART);
    threads.split_mut(out, 1, parts, |first, run| {
        cpu::values(op, &x[first..first + run.len()], run);
    });
}

/// `dx[i] = dy[i] · f'(x[i])`, where `y` is what [`unary`] made of `x`.
///
/// # Panics
/// When the lengths differ.
pub fn unary_vjp<T: Float>(threads: &Threads, op: UnaryOp, [x, y, dy]: [&[T]; 3], dx: &mut [T]) {
    assert!([x, y, dy].iter().all(|s| s.len() == dx.len()), "x, y, dy and dx of one length");
    let parts = threads.parts(dx.len(), MIN_PART);
    threads.split_mut(dx, 1, parts, |first, run| {
        let part = first..first + run.len();
        cpu::products(op, [&x[part.clone()], &y[part.clone()], &dy[part]], run);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(op: UnaryOp) -> Vec<f64> {
        let positive = matches!(op, UnaryOp::Ln | UnaryOp::Sqrt);
        let x = (0..101).map(|i| 2.9 * (1.3 * f64::from(i) + 0.2).sin());
        x.map(|x| if positive { x.abs() + 0.1 } else { x }).collect()
    }

    fn reference(op: UnaryOp, x: f64) -> f64 {
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
            UnaryOp::Sigmoid => 1.0 / (1.0 + (-x).exp()),
        }
    }

    #[test]
    fn values_follow_the_formulas_and_slopes_the_central_differences() {
        let serial = Threads::serial();
        for op in UnaryOp::ALL {
            let x = points(op);
            let dy: Vec<f64> = x.iter().map(|x| 1.5 + x.cos()).collect();
            let (mut y, mut dx) = (vec![0.0; x.len()], vec![0.0; x.len()]);
            unary(&serial, op, &x, &mut y);
            unary_vjp(&serial, op, [&x, &y, &dy], &mut dx);
            for i in 0..x.len() {
                let want = reference(op, x[i]);
                assert!(
                    (y[i] - want).abs() <= 1e-14 * want.abs().max(1.0),
                    "{} {}",
                    op.name(),
                    x[i]
                );
                let h = 1e-6 * x[i].abs();
                let slope = (reference(op, x[i] + h) - reference(op, x[i] - h)) / (2.0 * h);
                let error = (dx[i] - dy[i] * slope).abs();
                assert!(error <= 1e-6 * (1.0 + slope.abs()), "{} {} {error}", op.name(), x[i]);
            }
        }
    }

    #[test]
    fn the_conventions_at_kinks_and_specials_hold() {
        let value = |op: UnaryOp, x: f32| op.value(x);
        let slope = |op: UnaryOp, x: f32| op.slope(x, op.value(x));
        for op in UnaryOp::ALL {
            assert!(value(op, f32::NAN).is_nan(), "{}", op.name());
        }
        assert_eq!(value(UnaryOp::Relu, -0.0).to_bits(), 0);
        assert_eq!(slope(UnaryOp::Relu, 0.0), 0.0);
        assert_eq!(slope(UnaryOp::Relu, f32::NAN), 1.0);
        assert_eq!(slope(UnaryOp::Relu, f32::from_bits(1)), 1.0);
        assert_eq!((slope(UnaryOp::Abs, 0.0), slope(UnaryOp::Abs, -0.0)), (0.0, 0.0));
        assert_eq!((slope(UnaryOp::Abs, -2.0), slope(UnaryOp::Abs, 2.0)), (-1.0, 1.0));
        assert_eq!(value(UnaryOp::Sigmoid, -100.0), 3.8e-44);
        assert_eq!(value(UnaryOp::Sigmoid, 200.0), 1.0);
        assert_eq!(value(UnaryOp::Sigmoid, -200.0), 0.0);
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
            // Numbers computed alone, as no vectorised loop would.
            for i in (0..len).step_by(997).chain(len - 20..len) {
                assert_eq!(y[i].to_bits(), op.value(x[i]).to_bits(), "{}", op.name());
                assert_eq!(dx[i].to_bits(), (x[i] * op.slope(x[i], y[i])).to_bits());
            }
        }
    }

    #[test]
    fn names_and_numbers_are_distinct() {
        for (i, op) in UnaryOp::ALL.into_iter().enumerate() {
            assert_eq!(op as usize, i);
            assert!(UnaryOp::ALL[..i].iter().all(|other| other.name() != op.name()));
        }
    }
}
