//! The command line: arguments in, one of three exit codes out.
//!
//! 0: done. 1: the run failed or diverged, its replicas drifted apart, or its results could not be
//! written. 2: the input was refused before anything ran; nothing has been written.

mod args;
mod bounds;
mod model;
mod network;
mod optimizer;
mod progress;
mod report;
mod train;
mod training;
mod values;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;

/// Why a command ends without success.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The input was refused: one line that says what, the rule, and what to do.
    Input(String),
    /// The run failed, diverged, or could not hand over its results: one line that says why.
    Run(String),
    /// The replicas do not hold the same parameters; the report has been printed.
    Drift,
}

impl From<ringgrad::Error> for Failure {
    fn from(error: ringgrad::Error) -> Self {
        Failure::Run(error.to_string())
    }
}

/// Prints `text` and a line end on standard output, where a reader may have gone or a disk be full.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    let written = writeln!(out, "{text}").and_then(|()| out.flush());
    written.map_err(|cause| {
        Failure::Run(format!(
            "standard output cannot be written ({cause}); results are printed there: connect it \
             to a terminal, a file with room, or a program that reads to its end"
        ))
    })
}

/// Prints one line on standard error. Where that cannot be written, the exit code is all there is.
fn complain(message: &str) {
    let _ = writeln!(io::stderr().lock(), "ringgrad: {}", one_line(message));
}

/// `text` with its line ends and control characters spelled out.
fn one_line(text: &str) -> String {
    let spelled = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.into() };
    text.chars().map(spelled).collect()
}

/// What clap did not take: help, which is printed, or a wrong flag or value in one line.
fn not_parsed(error: &clap::Error) -> Result<ExitCode, Failure> {
    use clap::error::ErrorKind::{
        DisplayHelp, DisplayHelpOnMissingArgumentOrSubcommand, DisplayVersion,
    };
    match error.kind() {
        DisplayHelp | DisplayVersion => {
            print(error.to_string().trim_end())?;
            Ok(ExitCode::SUCCESS)
        }
        DisplayHelpOnMissingArgumentOrSubcommand => {
            let _ = write!(io::stderr().lock(), "{error}");
            Ok(ExitCode::from(2))
        }
        _ => Err(Failure::Input(wrong_argument(error))),
    }
}

/// What clap says of a wrong flag or value, without its hints, and with a rule where it has none.
fn wrong_argument(error: &clap::Error) -> String {
    let text = error.to_string();
    // The lines before may quote an argument, with any line ends that it has.
    let hints = ["\n\n  tip: ", "\n\nUsage: ", "\n\nFor more information"];
    let end = hints.iter().filter_map(|hint| text.find(hint)).min().unwrap_or(text.len());
    let what = text[..end].trim_start_matches("error: ").replace("\n  [", " [");
    if error.kind() == clap::error::ErrorKind::ValueValidation {
        return what;
    }
    format!("{what}; `ringgrad train --help` lists options and their values: correct or remove it")
}

/// Runs the command that the arguments name.
pub(crate) fn run() -> ExitCode {
    let outcome = match args::Args::try_parse() {
        Ok(args::Args { command: args::Command::Train(options) }) => {
            train::train(&options).map(|()| ExitCode::SUCCESS)
        }
        Err(error) => not_parsed(&error),
    };
    match outcome {
        Ok(code) => code,
        Err(Failure::Input(message)) => {
            complain(&message);
            ExitCode::from(2)
        }
        Err(Failure::Run(message)) => {
            complain(&message);
            ExitCode::from(1)
        }
        Err(Failure::Drift) => ExitCode::from(1),
    }
}

#[cfg(test)]
mod tests {
    use super::one_line;

    #[test]
    fn a_complaint_is_one_line_without_control_characters() {
        assert_eq!(one_line("a\nb\r\u{1b}[2J \u{e9}"), "a\\nb\\r\\u{1b}[2J \u{e9}");
    }
}
