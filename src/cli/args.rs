//! The arguments and their help.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Parser, Subcommand, ValueEnum};

/// Train small networks on several ranks at once, and see that they compute what one would.
#[derive(Debug, Parser)]
#[command(name = "ringgrad", version, arg_required_else_help = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Train a network, then compare it with a one-worker run of the same shards and with a run
    /// that takes each whole batch in one pass.
    Train(TrainOptions),
}

/// The options of `ringgrad train`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct TrainOptions {
    /// Workers, one thread each; at most as many as shards.
    #[arg(long, default_value_t = 4)]
    pub(crate) ranks: usize,
    /// Parts that each global batch is cut into. They decide the bits of a run; ranks only host
    /// them.
    #[arg(long, default_value_t = 8)]
    pub(crate) shards: usize,
    /// The network, mlp:SIZES with the sizes from input to output, such as mlp:64-48-10.
    /// [default: one hidden layer of 48 between the data's features and classes]
    #[arg(long, value_name = "mlp:SIZES")]
    pub(crate) model: Option<ModelSpec>,
    /// The data: digits (built in), idx:DIR (MNIST's four files) or csv:FILE (class last).
    #[arg(long, default_value = "digits", value_name = "digits|idx:DIR|csv:FILE")]
    pub(crate) data: DataSpec,
    /// Passes over the training data.
    #[arg(long, default_value_t = 30)]
    pub(crate) epochs: usize,
    /// Samples of a global batch; at least as many as shards.
    #[arg(long, default_value_t = 64)]
    pub(crate) batch: usize,
    /// Learning rate of SGD.
    #[arg(long, default_value_t = 0.2, allow_negative_numbers = true)]
    pub(crate) lr: f64,
    /// Momentum of SGD, 0 for none.
    #[arg(long, default_value_t = 0.9, allow_negative_numbers = true)]
    pub(crate) momentum: f64,
    /// How gradients are summed: tree has the same bits for any number of ranks, ring the
    /// fewest messages in the fewest buffers.
    #[arg(long, value_enum, default_value_t = AlgorithmName::Tree)]
    pub(crate) algorithm: AlgorithmName,
    /// Seed of the split, the order of the samples and the start of the parameters.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Threads of each rank's kernels. [default: cores divided by ranks]
    #[arg(long, value_name = "THREADS")]
    pub(crate) threads_per_rank: Option<usize>,
    /// Seconds that a rank waits for the others before it gives up and names them.
    #[arg(long, default_value_t = 30.0, value_name = "SECONDS", allow_negative_numbers = true)]
    pub(crate) deadline: f64,
    /// Write the trained parameters to this safetensors file, under PyTorch's names.
    #[arg(long, value_name = "FILE")]
    pub(crate) save: Option<PathBuf>,
    /// Start from the parameters of this safetensors file.
    #[arg(long, value_name = "FILE")]
    pub(crate) load: Option<PathBuf>,
    /// Break the synchronisation on purpose and watch the replicas drift apart; exits with 1.
    #[arg(long, value_enum, default_value_t = BreakName::None)]
    pub(crate) break_sync: BreakName,
    /// Print no progress.
    #[arg(long)]
    pub(crate) quiet: bool,
    /// Print one JSON object on one line at the end, and nothing else on standard output.
    #[arg(long)]
    pub(crate) json: bool,
}

/// The value of `--algorithm`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AlgorithmName {
    /// Canonical binary tree over the shards.
    Tree,
    /// Ring over the ranks.
    Ring,
}

/// The value of `--break-sync`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum BreakName {
    /// Do not.
    None,
    /// Every rank steps with its own gradients.
    NoReduce,
    /// The second half of each bucket is not reduced.
    HalfReduced,
    /// Every rank starts from parameters of its own.
    RankSeed,
}

/// The value of `--model`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ModelSpec {
    /// Sizes of a perceptron, from input to output.
    pub(crate) sizes: Vec<usize>,
}

impl FromStr for ModelSpec {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let rule = "known is mlp:SIZES, such as mlp:64-48-10";
        let (kind, sizes) = text.split_once(':').unwrap_or((text, ""));
        if kind != "mlp" {
            return Err(format!("no model is called {kind:?}; {rule}"));
        }
        let sizes = sizes.split(['-', ',']).map(str::parse).collect::<Result<Vec<usize>, _>>();
        match sizes {
            Ok(sizes) if sizes.len() >= 2 && !sizes.contains(&0) => Ok(ModelSpec { sizes }),
            _ => Err(format!("{text:?} has no two or more positive sizes; {rule}")),
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
}

impl FromStr for DataSpec {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            None if text == "digits" => Ok(DataSpec::Digits),
            Some(("idx", path)) if !path.is_empty() => Ok(DataSpec::Idx(path.into())),
            Some(("csv", path)) if !path.is_empty() => Ok(DataSpec::Csv(path.into())),
            _ => Err(format!("{text:?} is no data set; known are digits, idx:DIR and csv:FILE")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_and_data_sets_are_read_or_refused_with_the_rule() {
        assert_eq!("mlp:64-48-10".parse::<ModelSpec>().unwrap().sizes, [64, 48, 10]);
        assert_eq!("mlp:4,3".parse::<ModelSpec>().unwrap().sizes, [4, 3]);
        for bad in ["mlp", "mlp:", "mlp:4", "mlp:4-0", "mlp:4--3", "cnn:8,16", "mlp:4-x", ""] {
            assert!(bad.parse::<ModelSpec>().unwrap_err().contains("mlp:SIZES"), "{bad}");
        }
        assert_eq!("digits".parse(), Ok(DataSpec::Digits));
        assert_eq!("idx:a:b".parse(), Ok(DataSpec::Idx("a:b".into())));
        for bad in ["mnist", "idx:", "csv:", "digits:", ""] {
            assert!(bad.parse::<DataSpec>().unwrap_err().contains("known are"), "{bad}");
        }
    }

    #[test]
    fn the_arguments_are_consistent() {
        use clap::CommandFactory;
        Args::command().debug_assert();
    }
}
