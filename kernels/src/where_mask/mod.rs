//! `out = mask ? x : y`, elementwise: a choice, not a product, so that what is not chosen does not
//! show, whatever it is.

use crate::Element;

/// Takes `x[i]` where `mask[i]` is not 0, else `y[i]`.
///
/// # Panics
/// When the lengths differ.
pub fn where_mask<T: Element>(mask: &[u8], x: &[T], y: &[T], out: &mut [T]) {
    let len = out.len();
    assert_eq!((mask.len(), x.len(), y.len()), (len, len, len), "one result an element");
    for ((out, &mask), (&x, &y)) in out.iter_mut().zip(mask).zip(x.iter().zip(y)) {
        *out = if mask != 0 { x } else { y };
    }
}

/// The elements of `x` where `mask` is not 0, in their order; `out` holds exactly those.
///
/// # Panics
/// When the lengths differ, or `out` holds another number of elements.
pub fn masked_select<T: Element>(mask: &[u8], x: &[T], out: &mut [T]) {
    assert_eq!(mask.len(), x.len(), "one byte an element");
    let chosen = mask.iter().zip(x).filter(|(mask, _)| **mask != 0);
    assert_eq!(chosen.clone().count(), out.len(), "one place an element that is chosen");
    for (out, (_, &x)) in out.iter_mut().zip(chosen) {
        *out = x;
    }
}

/// The derivative of [`masked_select`]: `dy` back where it came from, 0 elsewhere.
///
/// # Panics
/// As there.
pub fn masked_select_vjp<T: Element>(mask: &[u8], dy: &[T], dx: &mut [T]) {
    assert_eq!(mask.len(), dx.len(), "one byte an element");
    assert_eq!(mask.iter().filter(|mask| **mask != 0).count(), dy.len(), "what was chosen");
    let mut dy = dy.iter();
    for (dx, &mask) in dx.iter_mut().zip(mask) {
        *dx = if mask != 0 { dy.next().copied().unwrap_or_default() } else { T::default() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_chosen_does_not_show() {
        let mut out = [9.0; 3];
        where_mask(&[1, 0, 7], &[1.0, f32::NAN, 3.0], &[f32::INFINITY, 2.0, f32::NAN], &mut out);
        assert_eq!(out, [1.0, 2.0, 3.0]);
        let mut chosen = [0.0; 2];
        masked_select(&[1, 0, 7], &[1.0, f32::NAN, 3.0], &mut chosen);
        assert_eq!(chosen, [1.0, 3.0]);
        masked_select_vjp(&[1, 0, 7], &[5.0, 6.0], &mut out);
        assert_eq!(out, [5.0, 0.0, 6.0]);
        masked_select::<f32>(&[0; 3], &[1.0; 3], &mut []);
    }
}
