//! What a run may need of the machine: told from the options, before anything is allocated.

use nn::data::Split;

use super::network::Network;

/// Most parameters, those of all ranks together: 1 GiB as f32, and several times that with
/// gradients, momentum and the second buffers.
const PARAMETERS_MAX: usize = 1 << 28;
/// Most activations of one batch, inputs and outputs among them: 4 GiB as f32.
const ACTIVATIONS_MAX: usize = 1 << 30;

/// Refuses a network that `ranks` replicas cannot hold, or whose activations for `rows` samples,
/// the most that are computed at once, need too much. Nothing in it overflows.
pub(crate) fn check(network: &Network, ranks: usize, rows: usize) -> Result<(), String> {
    let all = network.parameters().and_then(|n| n.checked_mul(ranks));
    if all.is_none_or(|n| n > PARAMETERS_MAX) {
        let found = all.map_or("2^64 or more".to_owned(), |n| n.to_string());
        return Err(format!(
            "the {} on {ranks} ranks has {found} parameters in all; at most {PARAMETERS_MAX} fit \
             in one machine: use a smaller --model or fewer --ranks",
            network.describe()
        ));
    }
    let activations = network.activations().and_then(|n| n.checked_mul(rows));
    if activations.is_none_or(|n| n > ACTIVATIONS_MAX) {
        let found = activations.map_or("2^64 or more".to_owned(), |n| n.to_string());
        return Err(format!(
            "the {} on {rows} samples at once has {found} activations; at most \
             {ACTIVATIONS_MAX} fit in one machine: use a smaller --model or --batch",
            network.describe()
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
    use nn::GptSettings;

    use super::*;

    #[test]
    fn a_network_may_fill_the_bounds_and_no_more() {
        // (2^14 − 1 inputs and a bias) · 2^14 outputs are 2^28 parameters.
        let (inputs, outputs) = ((1 << 14) - 1, 1 << 14);
        let check = |sizes: &[usize], ranks, rows| {
            check(&Network::Mlp { sizes: sizes.to_vec() }, ranks, rows)
        };
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

    #[test]
    fn no_network_is_too_large_to_be_counted() {
        let most = usize::MAX;
        let gpt = |vocabulary, context, dim, heads, layers| {
            Network::Gpt(GptSettings { vocabulary, context, dim, heads, layers })
        };
        for network in [
            Network::Cnn { side: 8, channels: vec![most, 2], classes: 10 },
            Network::Cnn { side: 8, channels: vec![1 << 20, 1 << 20], classes: 10 },
            gpt(65, 64, most - 1, 1, 2),
            gpt(65, 64, 1 << 20, 1, 1 << 20),
            gpt(most, 64, 64, 1, 1),
        ] {
            assert!(check(&network, 1, 1).unwrap_err().contains("parameters"), "{network:?}");
        }
        assert!(check(&gpt(65, 1 << 20, 1, 1, 1), 1, 1).unwrap_err().contains("activations"));
        assert_eq!(check(&gpt(65, 64, 128, 4, 4), 2, 64), Ok(()));
    }
}
