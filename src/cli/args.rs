//! The arguments and their help.

use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};

use super::optimizer::OptimOptions;
use super::values::{self, DataSpec, ModelSpec};

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
    #[arg(long, default_value_t = 4, value_parser = values::threads, allow_hyphen_values = true)]
    pub(crate) ranks: usize,
    /// Parts that each global batch is cut into. They decide the bits of a run; ranks only host
    /// them.
    #[arg(long, default_value_t = 8, value_parser = values::shards, allow_hyphen_values = true)]
    pub(crate) shards: usize,
    /// The network: mlp:SIZES from input to output, such as mlp:64-48-10; cnn:CHANNELS of each
    /// convolution, such as cnn:8,16; or, for text, gpt:D,HEADS,LAYERS,CTX, such as gpt:128,4,2,64.
    /// [default: an mlp with one hidden layer of 48; for text that gpt]
    #[arg(long, value_name = "KIND:NUMBERS")]
    pub(crate) model: Option<ModelSpec>,
    /// The data: digits (built in), idx:DIR (MNIST's four files), csv:FILE (class last) or
    /// text:FILE (UTF-8; the next character is predicted, and a sample is printed at the end).
    #[arg(long, default_value = "digits", value_name = "digits|idx:DIR|csv:FILE|text:FILE")]
    pub(crate) data: DataSpec,
    /// Passes over the training data. [default: 30; 2 for text]
    #[arg(long, value_parser = values::count, allow_hyphen_values = true)]
    epochs: Option<usize>,
    /// Samples of a global batch; at least as many as shards. [default: 64; 16 for text]
    #[arg(long, value_parser = values::count, allow_hyphen_values = true)]
    batch: Option<usize>,
    #[command(flatten)]
    pub(crate) optim: OptimOptions,
    /// How gradients are summed: tree has the same bits for any number of ranks, ring the
    /// fewest messages in the fewest buffers.
    #[arg(long, value_enum, default_value_t = AlgorithmName::Tree)]
    pub(crate) algorithm: AlgorithmName,
    /// Seed of the split, the order of the samples and the start of the parameters.
    #[arg(long, default_value_t = 1, value_parser = values::seed, allow_hyphen_values = true)]
    pub(crate) seed: u64,
    /// Threads of each rank's kernels. [default: cores divided by ranks]
    #[arg(long, value_name = "THREADS", value_parser = values::threads, allow_hyphen_values = true)]
    pub(crate) threads_per_rank: Option<usize>,
    /// Seconds that a rank waits for the others before it gives up and names them.
    #[arg(long, default_value_t = 30.0, value_name = "SECONDS")]
    #[arg(value_parser = values::deadline, allow_hyphen_values = true)]
    pub(crate) deadline: f64,
    /// Write the trained parameters to this safetensors file, under PyTorch's names; not those of a
    /// run that diverged.
    #[arg(long, value_name = "FILE")]
    pub(crate) save: Option<PathBuf>,
    /// Start from the parameters of this safetensors file.
    #[arg(long, value_name = "FILE")]
    pub(crate) load: Option<PathBuf>,
    /// Break the synchronisation on purpose and watch the replicas drift apart; exits with 1.
    #[arg(long, value_enum, default_value_t = BreakName::None)]
    pub(crate) break_sync: BreakName,
    /// Leave out the two runs that the main one is compared with; it takes a third of the time.
    #[arg(long)]
    pub(crate) no_compare: bool,
    /// Print no progress.
    #[arg(long)]
    pub(crate) quiet: bool,
    /// Print one JSON object on one line at the end, and nothing else on standard output. A figure
    /// that is not a finite number is null.
    #[arg(long)]
    pub(crate) json: bool,
}

/// What was chosen, or is usual for this kind of data.
impl TrainOptions {
    fn is_text(&self) -> bool {
        matches!(self.data, DataSpec::Text(_))
    }

    pub(crate) fn epochs(&self) -> usize {
        self.epochs.unwrap_or(if self.is_text() { 2 } else { 30 })
    }

    pub(crate) fn batch(&self) -> usize {
        self.batch.unwrap_or(if self.is_text() { 16 } else { 64 })
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_are_consistent() {
        use clap::CommandFactory;
        Args::command().debug_assert();
    }
}
