//! Compiles a loop for the widest vectors of the machine that it finds itself on.
//!
//! The loop is ordinary Rust. What changes with the instruction set is only how many elements go
//! through at once: the compiler never reorders a floating-point sum and never fuses a product
//! with one, so every path gives the same bits.

/// Calls `body`, compiled for AVX-512 or AVX2 where the machine has them.
///
/// `body` must be an `#[inline(always)]` closure: what it does not inline is compiled for the
/// baseline. Worth its test of a flag and a call from some dozens of elements on.
#[inline(always)]
pub(crate) fn simd<R>(body: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    {
        if has_avx512() {
            // SAFETY: `has_avx512` found the features that `with_avx512` is compiled for.
            return unsafe { with_avx512(body) };
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            // SAFETY: the line above found the features that `with_avx2` is compiled for.
            return unsafe { with_avx2(body) };
        }
    }
    baseline(body)
}

/// A function of its own, as the others are: a caller with many loops stays small.
#[inline(never)]
fn baseline<R>(body: impl FnOnce() -> R) -> R {
    body()
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn has_avx512() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("fma")
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,fma")]
fn with_avx512<R>(body: impl FnOnce() -> R) -> R {
    body()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn with_avx2<R>(body: impl FnOnce() -> R) -> R {
    body()
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use crate::Float;
    use crate::reduce::lane_sum;

    /// Products next to sums, so that a contraction would show; a sum, so that a reordering would.
    #[inline(always)]
    fn loops<T: Float>(x: &[T]) -> Vec<T> {
        let mut y: Vec<T> = x.iter().map(|&x| x.exp() * x + x * x.tanh()).collect();
        y.push(lane_sum(x));
        y
    }

    fn check<T: Float>() {
        for len in [0, 1, 15, 16, 17, 31, 64, 101] {
            let x: Vec<T> = (0..len).map(|i| T::from_f64((1.7 * f64::from(i)).sin())).collect();
            let baseline = loops(&x);
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                // SAFETY: the features were found in the line above.
                assert_eq!(unsafe { with_avx2(|| loops(&x)) }, baseline, "AVX2, {len}");
            }
            if has_avx512() {
                // SAFETY: the features were found in the line above.
                assert_eq!(unsafe { with_avx512(|| loops(&x)) }, baseline, "AVX-512, {len}");
            }
            assert_eq!(simd(|| loops(&x)), baseline);
        }
    }

    #[test]
    fn every_instruction_set_gives_the_same_bits() {
        check::<f32>();
        check::<f64>();
    }
}
