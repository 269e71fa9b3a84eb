//! The command line: arguments in, one of three exit codes out.
//!
//! 0: done. 1: the run failed, or its replicas drifted apart. 2: the input was refused before
//! anything ran; nothing has been written.

mod args;
mod model;
mod progress;
mod report;
mod train;
mod training;

use std::process::ExitCode;

use clap::Parser;

/// Why a command ends without success.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The input was refused: one line that says what, the rule, and what to do.
    Input(String),
    /// The run failed.
    Run(ringgrad::Error),
    /// The replicas do not hold the same parameters; the report has been printed.
    Drift,
}

impl From<ringgrad::Error> for Failure {
    fn from(error: ringgrad::Error) -> Self {
        Failure::Run(error)
    }
}

/// Runs the command that the arguments name.
pub(crate) fn run() -> ExitCode {
    // clap prints its own message and exits with 2 on a wrong flag, 0 after --help.
    let outcome = match args::Args::parse().command {
        args::Command::Train(options) => train::train(&options),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Input(message)) => {
            eprintln!("ringgrad: {message}");
            ExitCode::from(2)
        }
        Err(Failure::Run(error)) => {
            eprintln!("ringgrad: {error}");
            ExitCode::from(1)
        }
        Err(Failure::Drift) => ExitCode::from(1),
    }
}
