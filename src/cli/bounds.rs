//! What a run may need of the machine: told from the options, before anything is allocated.

use nn::data::Split;

/// Most parameters, those of all ranks together: 1 GiB as f32, and several times that with
/// gradients, momentum and the second buffers.
const PARAMETERS_MAX: usize = 1 << 28;
/// Most activations of one batch, inputs and outputs among them: 4 GiB as f32.
const ACTIVATIONS_MAX: usize = 1 << 30;

/// Refuses a perceptron of `sizes` that `ranks` replicas cannot hold, or whose activations for
/// `rows` samples, the most that are computed at once, need too much. Nothing in it overflows.
pub(crate) fn check(sizes: &[usize], ranks: usize, rows: usize) -> Result<(), String> {
    let layer = |pair: &[usize]| pair[0].checked_add(1)?.checked_mul(pair[1]);
    let parameters = sizes.windows(2).try_fold(0usize, |n, pair| n.checked_add(layer(pair)?));
    let all = parameters.and_then(|n| n.checked_mul(ranks));
    if all.is_none_or(|n| n > PARAMETERS_MAX) {
        let found = all.map_or("2^64 or more".to_owned(), |n| n.to_string());
        return Err(format!(
            "the network of sizes {sizes:?} on {ranks} ranks has {found} parameters in all; at \
             most {PARAMETERS_MAX} fit in one machine: use a smaller --model or fewer --ranks"
        ));
    }
    let units = sizes.iter().try_fold(0usize, |n, &size| n.checked_add(size));
    let activations = units.and_then(|n| n.checked_mul(rows));
    if activations.is_none_or(|n| n > ACTIVATIONS_MAX) {
        let found = activations.map_or("2^64 or more".to_owned(), |n| n.to_string());
        return Err(format!(
            "the network of sizes {sizes:?} on {rows} samples at once has {found} activations; \
             at most {ACTIVATIONS_MAX} fit in one machine: use a smaller --model or --batch"
        ));
    }
    Ok(())
}

/// The most samples of one forward of a run on `data`.
pub(crate) fn rows(data: &Split, batch: usize, evaluation_batch: usize) -> usize {
    batch.min(data.train.len()).max(evaluation_batch.min(data.test.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_may_fill_the_bounds_and_no_more() {
        // (2^14 − 1 inputs and a bias) · 2^14 outputs are 2^28 parameters.
        let (inputs, outputs) = ((1 << 14) - 1, 1 << 14);
        assert_eq!(check(&[inputs, outputs], 1, 1), Ok(()));
        for (sizes, ranks) in [
            (&[inputs, outputs][..], 2),
            (&[inputs, outputs + 1], 1),
            (&[64, 1_000_000_000, 10], 1),
            (&[64, usize::MAX, 10], 1),
            (&[usize::MAX, 1], 1),
            (&[64, 48, 10], usize::MAX),
        ] {
            let refused = check(sizes, ranks, 1).unwrap_err();
            assert!(refused.contains("at most 268435456"), "{refused}");
        }
        assert_eq!(check(&[1, 1], 1, 1 << 29), Ok(()));
        for rows in [(1 << 29) + 1, usize::MAX] {
            assert!(check(&[1, 1], 1, rows).unwrap_err().contains("activations"));
        }
    }
}
