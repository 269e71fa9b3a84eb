//! Values of options: each is read, or refused with the rule that it breaks.

use std::num::IntErrorKind;
use std::path::PathBuf;
use std::str::FromStr;

use nn::optim::{Recipe, sgd};

/// Most ranks, and most threads of all ranks: a thread more than a machine has is a loss.
pub(crate) const THREADS_MAX: usize = 1024;
/// Most shards: every rank knows of each.
const SHARDS_MAX: usize = 1 << 16;
/// Most samples of a batch and most epochs: far beyond any run, and safe to multiply.
const COUNT_MAX: usize = 1 << 31;
/// Seconds of a deadline: from what a thread needs to wake up, to a day.
const DEADLINE: std::ops::RangeInclusive<f64> = 0.001..=86_400.0;

/// The value of `--model`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ModelSpec {
    /// A perceptron.
    Mlp {
        /// Sizes, from input to output.
        sizes: Vec<usize>,
    },
    /// A convolutional network.
    Cnn {
        /// Channels of each convolution.
        channels: Vec<usize>,
    },
    /// A transformer over text.
    Gpt {
        /// Features of a token.
        dim: usize,
        /// Heads; they share the features evenly.
        heads: usize,
        /// Blocks.
        layers: usize,
        /// Tokens that it sees at once.
        context: usize,
    },
}

impl ModelSpec {
    /// The network for a text when none is asked for.
    pub(crate) const GPT: ModelSpec = ModelSpec::Gpt { dim: 128, heads: 4, layers: 2, context: 64 };

    /// Tokens that it sees at once, when it reads text.
    pub(crate) fn context(&self) -> Option<usize> {
        match self {
            ModelSpec::Gpt { context, .. } => Some(*context),
            _ => None,
        }
    }
}

impl FromStr for ModelSpec {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let rule = "known are mlp:SIZES, such as mlp:64-48-10, cnn:CHANNELS, such as cnn:8,16, \
                    and gpt:D,HEADS,LAYERS,CTX, such as gpt:128,4,2,64";
        let (kind, numbers) = text.split_once(':').unwrap_or((text, ""));
        if !["mlp", "cnn", "gpt"].contains(&kind) {
            return Err(format!("no model is called {kind:?}; {rule}"));
        }
        let numbers = numbers.split(['-', ',']).map(str::parse).collect::<Result<Vec<usize>, _>>();
        let numbers = match numbers {
            Ok(numbers) if !numbers.contains(&0) => numbers,
            Err(cause) if *cause.kind() == IntErrorKind::PosOverflow => {
                return Err(format!(
                    "{text:?} has a size that is too large for any machine; {rule}"
                ));
            }
            _ => return Err(format!("{text:?} has no positive numbers after its colon; {rule}")),
        };
        match (kind, &numbers[..]) {
            ("mlp", [_, _, ..]) => Ok(ModelSpec::Mlp { sizes: numbers }),
            ("cnn", [_, ..]) => Ok(ModelSpec::Cnn { channels: numbers }),
            ("gpt", &[dim, heads, layers, context]) if dim % heads == 0 => {
                Ok(ModelSpec::Gpt { dim, heads, layers, context })
            }
            ("gpt", &[dim, heads, ..]) if dim % heads != 0 => {
                Err(format!("{text:?} shares {dim} features among {heads} heads unevenly; {rule}"))
            }
            _ => Err(format!("{text:?} has too few or too many numbers; {rule}")),
        }
    }
}

/// The value of `--data`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum DataSpec {
    /// The built-in digits.
    Digits,
    /// A folder with the four files of MNIST's format.
    Idx(PathBuf),
    /// A table whose last column is the class.
    Csv(PathBuf),
    /// A text, whose characters are predicted one by one.
    Text(PathBuf),
}

impl FromStr for DataSpec {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            None if text == "digits" => Ok(DataSpec::Digits),
            Some(("idx", path)) if !path.is_empty() => Ok(DataSpec::Idx(path.into())),
            Some(("csv", path)) if !path.is_empty() => Ok(DataSpec::Csv(path.into())),
            Some(("text", path)) if !path.is_empty() => Ok(DataSpec::Text(path.into())),
            _ => Err(format!(
                "{text:?} is no data set; known are digits, idx:DIR, csv:FILE and text:FILE"
            )),
        }
    }
}

fn whole<T: FromStr + PartialOrd + std::fmt::Display>(
    text: &str,
    least: T,
    most: T,
) -> Result<T, String> {
    match text.parse() {
        Ok(value) if least <= value && value <= most => Ok(value),
        _ => Err(format!("it must be a whole number from {least} to {most}: choose one of these")),
    }
}

/// The value of `--ranks` and of `--threads-per-rank`.
pub(crate) fn threads(text: &str) -> Result<usize, String> {
    whole(text, 1, THREADS_MAX)
}

/// The value of `--shards`.
pub(crate) fn shards(text: &str) -> Result<usize, String> {
    whole(text, 1, SHARDS_MAX)
}

/// The value of `--batch` and of `--epochs`.
pub(crate) fn count(text: &str) -> Result<usize, String> {
    whole(text, 1, COUNT_MAX)
}

/// The value of `--seed`.
pub(crate) fn seed(text: &str) -> Result<u64, String> {
    whole(text, 0, u64::MAX)
}

fn number(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| "it must be a number, such as 0.1: write one".to_owned())
}

/// A setting of a recipe, which `rule` makes of the number and accepts.
fn setting(text: &str, rule: fn(f64) -> Recipe) -> Result<f64, String> {
    let value = number(text)?;
    let refused = rule(value).validate().map_err(|error| error.to_string());
    // Without the rule's name: the setting is tried on one that may not be the run's.
    refused
        .map_err(|text| text.split_once(": ").map_or(text.clone(), |(_, rest)| rest.to_owned()))?;
    Ok(value)
}

/// The value of `--lr`.
pub(crate) fn lr(text: &str) -> Result<f64, String> {
    setting(text, |lr| sgd(lr).into())
}

/// The value of `--momentum`.
pub(crate) fn momentum(text: &str) -> Result<f64, String> {
    setting(text, |momentum| sgd(0.0).momentum(momentum).into())
}

/// The value of `--weight-decay`.
pub(crate) fn weight_decay(text: &str) -> Result<f64, String> {
    setting(text, |weight_decay| sgd(0.0).weight_decay(weight_decay).into())
}

/// The value of `--clip`.
pub(crate) fn clip(text: &str) -> Result<f64, String> {
    setting(text, |norm| sgd(0.0).clip_norm(norm).into())
}

/// The value of `--deadline`.
pub(crate) fn deadline(text: &str) -> Result<f64, String> {
    let (least, most) = (DEADLINE.start(), DEADLINE.end());
    let seconds = number(text)?;
    if DEADLINE.contains(&seconds) {
        return Ok(seconds);
    }
    Err(format!("it must be a number of seconds from {least} to {most}: choose one of these"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_and_data_sets_are_read_or_refused_with_the_rule() {
        assert_eq!("mlp:64-48-10".parse(), Ok(ModelSpec::Mlp { sizes: vec![64, 48, 10] }));
        assert_eq!("mlp:4,3".parse(), Ok(ModelSpec::Mlp { sizes: vec![4, 3] }));
        assert_eq!("cnn:8".parse(), Ok(ModelSpec::Cnn { channels: vec![8] }));
        assert_eq!("gpt:128,4,2,64".parse(), Ok(ModelSpec::GPT));
        for bad in [
            "mlp",
            "mlp:",
            "mlp:4",
            "mlp:4-0",
            "mlp:4--3",
            "mlp:4-x",
            "",
            "cnn",
            "cnn:",
            "cnn:8,0",
            "gpt:64,4,2",
            "gpt:128,4,2,64,1",
            "gpt:64,5,2,64",
            "gpt:64,0,2,64",
            "rnn:3",
        ] {
            assert!(bad.parse::<ModelSpec>().unwrap_err().contains("mlp:SIZES"), "{bad}");
        }
        assert!("gpt:64,5,2,64".parse::<ModelSpec>().unwrap_err().contains("64 features among 5"));
        let huge = "mlp:64-18446744073709551616-10".parse::<ModelSpec>().unwrap_err();
        assert!(huge.contains("too large"), "{huge}");
        assert_eq!("digits".parse(), Ok(DataSpec::Digits));
        assert_eq!("idx:a:b".parse(), Ok(DataSpec::Idx("a:b".into())));
        for bad in ["mnist", "idx:", "csv:", "text:", "digits:", ""] {
            assert!(bad.parse::<DataSpec>().unwrap_err().contains("known are"), "{bad}");
        }
    }

    #[test]
    fn numbers_are_read_up_to_their_limits_and_no_further() {
        assert_eq!((threads("1"), threads("1024")), (Ok(1), Ok(1024)));
        assert_eq!((shards("65536"), count("2147483648")), (Ok(65536), Ok(1 << 31)));
        assert_eq!((seed("0"), seed("18446744073709551615")), (Ok(0), Ok(u64::MAX)));
        for bad in ["0", "-1", "1.5", "", "x", "1025", "18446744073709551616"] {
            assert!(threads(bad).unwrap_err().contains("from 1 to 1024"), "{bad}");
        }
        assert!(shards("65537").is_err() && count("2147483649").is_err() && seed("-1").is_err());
        assert_eq!((lr("0"), lr("1e30"), momentum("0.9")), (Ok(0.0), Ok(1e30), Ok(0.9)));
        for bad in ["-1", "inf", "-inf", "nan", "1e300", "x", ""] {
            assert!(lr(bad).unwrap_err().contains("it must be "), "{bad}");
            assert!(momentum(bad).unwrap_err().contains("it must be "), "{bad}");
            assert!(deadline(bad).unwrap_err().contains("it must be "), "{bad}");
        }
        assert!(momentum("1").is_err() && deadline("0").is_err() && deadline("86401").is_err());
        assert_eq!((deadline("0.001"), deadline("86400")), (Ok(0.001), Ok(86_400.0)));
    }
}
