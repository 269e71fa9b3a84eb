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

/// A wrong flag or value in one line. Help is no failure: it is printed, and the process ends.
fn refused(error: &clap::Error) -> Failure {
    use clap::error::ErrorKind::{
        DisplayHelp, DisplayHelpOnMissingArgumentOrSubcommand, DisplayVersion,
    };
    match error.kind() {
        DisplayHelp | DisplayVersion | DisplayHelpOnMissingArgumentOrSubcommand => error.exit(),
        _ => {
            let text = error.to_string();
            let lines = text.lines().take_while(|line| !line.is_empty()).map(str::trim);
            let line = lines.collect::<Vec<_>>().join(" ");
            Failure::Input(line.trim_start_matches("error: ").to_owned())
        }
    }
}

/// Runs the command that the arguments name.
pub(crate) fn run() -> ExitCode {
    let outcome = match args::Args::try_parse() {
        Ok(args::Args { command: args::Command::Train(options) }) => train::train(&options),
        Err(error) => Err(refused(&error)),
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
