//! The normal distribution and the error function, without a branch.
//!
//! For `a ≥ 0` the upper tail is `Φ(−a) = e^(−a²/2) · R(a)`, where `R(a) · (a + K)` is a polynomial
//! F in `t = (a − K) / (a + K)`, fitted over the whole range: a small tail keeps its digits. What
//! rounding a² loses is given back to first order. `erf x = 1 − 2·Φ(−√2·x)` from |x| = 1 on, and
//! `x · E(x²)` below, where the difference would cancel.
//!
//! Errors: Φ and erf within 4 ulps where the result is normal and a is below
//! 6; further out the tail has a relative error of about a²/2 · 2⁻⁵³ (2⁻²⁴). NaN stays NaN.

use super::{Format, exp, polynomial};

/// The tables of a binary format.
pub(crate) trait Gauss: Format {
    /// K.
    const CENTER: Self;
    /// F, from the constant up.
    const TAIL: &'static [Self];
    /// From here on the tail is 0.
    const FAR: Self;
    /// E, from the constant up.
    const ERF: &'static [Self];
}

impl Gauss for f32 {
    const CENTER: Self = 3.0;
    const TAIL: &'static [Self] = &[
        7.290_837e-1,
        -5.093_32e-1,
        2.300_177e-1,
        -4.726_268_8e-2,
        -1.046_252e-2,
        6.969_302e-3,
        1.024_783_9e-3,
        -1.032_523_8e-3,
        -2.447_543_4e-4,
        1.312_536e-4,
        5.445_482e-5,
    ];
    const FAR: Self = 14.5;
    const ERF: &'static [Self] = &[
        std::f32::consts::FRAC_2_SQRT_PI,
        -3.761_262_6e-1,
        1.128_358_5e-1,
        -2.685_381_5e-2,
        5.188_330_5e-3,
        -8.010_203e-4,
        7.853_85e-5,
    ];
}

impl Gauss for f64 {
    const CENTER: Self = 4.0;
    const TAIL: &'static [Self] = &[
        0.7552851304157515,
        -0.6078966419718921,
        0.3871374007422197,
        -0.1865218579596655,
        0.06039657489066677,
        -0.007540188966433542,
        -0.003479692361613677,
        0.00163081845326259,
        0.00013334424856857905,
        -0.00023109490361237188,
        -1.907844127685762e-6,
        3.5144569294421176e-5,
        7.149757866838753e-7,
        -5.9200104249788226e-6,
        -6.252285449868565e-7,
        1.0218560862716154e-6,
        2.641542122448536e-7,
        -1.5659130042160732e-7,
        -7.720985843990811e-8,
        1.606902968038225e-8,
        1.4618726141216548e-8,
        -3.3906243101171973e-10,
        -1.1965049360403493e-9,
    ];
    const FAR: Self = 39.0;
    const ERF: &'static [Self] = &[
        std::f64::consts::FRAC_2_SQRT_PI,
        -0.3761263890318375,
        0.11283791670954858,
        -0.02686617064507296,
        0.00522397762478137,
        -0.0008548326978765149,
        0.00012055331037551108,
        -1.4925593518728226e-5,
        1.6460972954153765e-6,
        -1.635002619207727e-7,
        1.4657883530919653e-8,
        -1.136567067182716e-9,
        5.945255584223488e-11,
    ];
}

/// `(Φ(−a), e^(−a²/2))` of a in 0..=FAR.
#[inline(always)]
fn tail<T: Gauss>(a: T) -> (T, T) {
    let square = a * a;
    let lost = a.mul_add(a, -square);
    let half = T::from_f64(0.5);
    let power = exp(-half * square);
    let power = (-half * lost).mul_add(power, power);
    let inverse = T::ONE / (a + T::CENTER);
    let t = (a - T::CENTER) * inverse;
    (power * (polynomial(T::TAIL, t) * inverse), power)
}

/// `(Φ(x), e^(−x²/2))`: the distribution function of the standard normal, and √(2π) times its
/// density.
#[inline(always)]
pub(crate) fn normal<T: Gauss>(x: T) -> (T, T) {
    let a = x.abs();
    // A NaN compares false and goes through.
    let a = if a > T::FAR { T::FAR } else { a };
    let (below, power) = tail(a);
    (if x > T::ZERO { T::ONE - below } else { below }, power)
}

/// The error function; it keeps the sign of zero.
#[inline(always)]
pub(crate) fn erf<T: Gauss>(x: T) -> T {
    let a = x.abs();
    let limit = T::from_f64(7.0);
    let a = if a > limit { limit } else { a };
    let far = {
        let (below, _) = tail(a * T::from_f64(std::f64::consts::SQRT_2));
        T::ONE - (below + below)
    };
    let near = a * polynomial(T::ERF, a * a);
    (if a < T::ONE { near } else { far }).with_sign_of(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `(x, Φ(x), erf(x))` to 17 digits, from an evaluation with 40.
    const VALUES: [(f64, f64, f64); 21] = [
        (-20.0, 2.7536241186062337e-89, -1.0),
        (-10.0, 7.619853024160525e-24, -1.0),
        (-6.0, 9.86587645037698e-10, -1.0),
        (-3.5, 0.00023262907903552504, -0.9999992569016276),
        (-2.0, 0.02275013194817921, -0.9953222650189527),
        (-1.25, 0.10564977366685525, -0.9229001282564583),
        (-0.75, 0.2266273523768682, -0.7111556336535151),
        (-0.3, 0.3820885778110474, -0.3286267594591274),
        (-1e-05, 0.49999601057719606, -1.1283791670579e-05),
        (0.0, 0.5, 0.0),
        (1e-08, 0.5000000039894228, 1.1283791670955126e-08),
        (0.1, 0.539827837277029, 0.1124629160182849),
        (0.5, 0.6914624612740131, 0.5204998778130465),
        (0.9, 0.8159398746532405, 0.7969082124228322),
        (1.0, 0.8413447460685429, 0.8427007929497149),
        (1.1, 0.8643339390536173, 0.8802050695740817),
        (1.7, 0.955434537241457, 0.9837904585907745),
        (2.5, 0.9937903346742238, 0.999593047982555),
        (4.0, 0.9999683287581669, 0.9999999845827421),
        (6.0, 0.9999999990134123, 1.0),
        (9.0, 1.0, 1.0),
    ];

    #[test]
    fn values_have_all_their_digits() {
        for (x, cdf, error) in VALUES {
            let near = |got: f64, want: f64, unit: f64| {
                let bound = (4.0 + 0.5 * x * x) * unit * want.abs();
                assert!((got - want).abs() <= bound, "{x}: {got:e} instead of {want:e}");
            };
            near(normal(x).0, cdf, f64::EPSILON);
            near(erf(x), error, f64::EPSILON);
            // The function at the f32 nearest to x, which the f64 one gives.
            let narrow = x as f32;
            if cdf > 1e-37 {
                let want = normal(f64::from(narrow)).0;
                near(f64::from(normal(narrow).0), want, f64::from(f32::EPSILON));
            }
            near(f64::from(erf(narrow)), erf(f64::from(narrow)), f64::from(f32::EPSILON));
        }
    }

    #[test]
    fn infinities_zeros_and_nans_have_their_exact_results() {
        fn check<T: Gauss>() {
            let inf = T::INFINITY;
            assert_eq!((normal(inf).0, normal(-inf).0), (T::ONE, T::ZERO));
            assert_eq!((erf(inf), erf(-inf)), (T::ONE, -T::ONE));
            assert!(normal(T::NAN).0.is_nan() && erf(T::NAN).is_nan());
            assert!(T::ONE / erf(-T::ZERO) == -inf && T::ONE / erf(T::ZERO) == inf);
        }
        check::<f32>();
        check::<f64>();
    }
}
