//! `lossᵢ = −w[tᵢ] · x[i, tᵢ]`: the negative log-likelihood of rows of log-probabilities, and its
//! derivative, which is `−w[tᵢ] · dyᵢ` at the target and +0 elsewhere.
//!
//! The weight of an ignored row is 0: its loss and derivative are +0, whatever it holds.

use crate::Float;

/// The loss of each row.
///
/// **Shapes**: log-probabilities `[rows, classes]`, targets and weights `[rows]` `-> [rows]`.
///
/// # Panics
/// Lengths that do not fit, or a target with a weight that is no class: the tensor layer has
/// checked both.
pub fn nll_loss<T: Float>(
    log_probs: &[T],
    classes: usize,
    targets: &[i64],
    row_weights: &[T],
    losses: &mut [T],
) {
    assert_eq!(log_probs.len(), targets.len() * classes, "log-probabilities are [rows, classes]");
    assert_eq!((row_weights.len(), losses.len()), (targets.len(), targets.len()), "one a row");
    for (row, (loss, (&target, &weight))) in
        losses.iter_mut().zip(targets.iter().zip(row_weights)).enumerate()
    {
        *loss = if weight == T::ZERO {
            T::ZERO
        } else {
            -(weight * log_probs[at(row, target, classes)])
        };
    }
}

/// The derivative of `Σ dyᵢ · lossᵢ` with respect to the log-probabilities.
///
/// **Shapes**: targets, weights and dy `[rows]` `-> [rows, classes]`.
///
/// # Panics
/// As [`nll_loss`].
pub fn nll_loss_vjp<T: Float>(
    classes: usize,
    targets: &[i64],
    row_weights: &[T],
    dy: &[T],
    dx: &mut [T],
) {
    assert_eq!(dx.len(), targets.len() * classes, "one derivative a log-probability");
    assert_eq!((row_weights.len(), dy.len()), (targets.len(), targets.len()), "one a row");
    dx.fill(T::ZERO);
    for (row, ((&target, &weight), &dy)) in targets.iter().zip(row_weights).zip(dy).enumerate() {
        if weight != T::ZERO {
            dx[at(row, target, classes)] = -(weight * dy);
        }
    }
}

fn at(row: usize, target: i64, classes: usize) -> usize {
    assert!((0..classes as i64).contains(&target), "a target lies within the classes");
    row * classes + target as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_targets_are_picked_and_weighed_and_an_ignored_row_is_zero() {
        let x = [-1.0f32, -2.0, f32::NAN, -4.0, -5.0, -0.0];
        let (targets, weights) = ([1, -100, 1], [0.5, 0.0, 2.0]);
        let mut losses = [f32::NAN; 3];
        nll_loss(&x, 2, &targets, &weights, &mut losses);
        assert_eq!(losses, [1.0, 0.0, 0.0]);
        let mut dx = [f32::NAN; 6];
        nll_loss_vjp(2, &targets, &weights, &[1.0, f32::INFINITY, 3.0], &mut dx);
        assert_eq!(dx, [0.0, -0.5, 0.0, 0.0, 0.0, -6.0]);
    }

    #[test]
    #[should_panic(expected = "within the classes")]
    fn a_target_in_the_next_row_is_refused() {
        nll_loss(&[0.5f32; 4], 2, &[2, 0], &[1.0; 2], &mut [0.0; 2]);
    }
}
