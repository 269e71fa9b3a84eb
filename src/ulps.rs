//! How far apart two results are.

use crate::hash::NamedValues;

/// The largest distance between two sets of parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Distance {
    /// The largest absolute difference of two elements.
    pub max_abs: f64,
    /// The largest number of f32 values from one element to the other.
    pub max_ulps: u64,
}

/// The distance of parameters of equal names and shapes; two NaNs are 0 apart, a NaN and a number
/// infinitely far.
pub fn distance(left: &[NamedValues], right: &[NamedValues]) -> Distance {
    let pairs = left.iter().zip(right).flat_map(|(l, r)| l.values.iter().zip(&r.values));
    pairs.fold(Distance::default(), |far, (&l, &r)| match (l.is_nan(), r.is_nan()) {
        (true, true) => far,
        (false, false) => Distance {
            max_abs: far.max_abs.max((l - r).abs()),
            max_ulps: far.max_ulps.max(ulps(l as f32, r as f32)),
        },
        _ => Distance { max_abs: f64::INFINITY, max_ulps: u64::MAX },
    })
}

/// How many f32 values lie between two, counting one of them; −0 and +0 are 1 apart.
fn ulps(left: f32, right: f32) -> u64 {
    // Maps the sign-magnitude order of floats to the order of integers, −0 just below +0.
    let place = |x: f32| {
        let bits = i64::from(x.to_bits() & 0x7fff_ffff);
        if x.is_sign_negative() { -1 - bits } else { bits }
    };
    place(left).abs_diff(place(right))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ulps_count_the_floats_between() {
        assert_eq!(ulps(1.0, 1.0), 0);
        assert_eq!(ulps(1.0, 1.0 + f32::EPSILON), 1);
        assert_eq!(ulps(0.0, -0.0), 1);
        assert_eq!(ulps(f32::from_bits(1), -f32::from_bits(1)), 3);
        assert_eq!(ulps(2.0, 1.0), 1 << 23);
    }

    #[test]
    fn a_nan_is_far_from_every_number_and_near_a_nan() {
        let one = |value: f64| {
            vec![NamedValues { name: "w".into(), shape: vec![1], values: vec![value] }]
        };
        assert_eq!(distance(&one(f64::NAN), &one(f64::NAN)), Distance::default());
        assert_eq!(distance(&one(f64::NAN), &one(1.0)).max_ulps, u64::MAX);
        assert_eq!(distance(&one(1.5), &one(1.0)).max_abs, 0.5);
    }
}
