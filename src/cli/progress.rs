//! What is shown while a run goes on: a bar on a terminal, plain lines elsewhere.

use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use ringgrad::TimeShare;

/// Where progress goes. Cheap to clone into the ranks; only rank 0 shows anything.
#[derive(Clone)]
pub(crate) enum Progress {
    /// Nowhere.
    Silent,
    /// A bar that is redrawn on standard error.
    Bar(ProgressBar),
    /// A line an epoch, on standard output or, when that is kept for JSON, on standard error.
    Lines { to_stderr: bool },
}

/// What is told after an epoch.
pub(crate) struct EpochLine {
    pub(crate) epoch: usize,
    pub(crate) epochs: usize,
    pub(crate) loss: f64,
    pub(crate) accuracy: f64,
    pub(crate) samples_per_second: f64,
    pub(crate) time_share: TimeShare,
}

impl Progress {
    /// A bar over `epochs` when standard error is a terminal, lines otherwise.
    pub(crate) fn new(epochs: usize, quiet: bool, json: bool) -> Self {
        if quiet {
            return Progress::Silent;
        }
        let style = ProgressStyle::with_template("{bar:24} epoch {pos}/{len}  {msg}");
        match style {
            Ok(style) if io::stderr().is_terminal() => {
                let bar = ProgressBar::new(epochs as u64).with_style(style);
                bar.enable_steady_tick(Duration::from_millis(200));
                Progress::Bar(bar)
            }
            _ => Progress::Lines { to_stderr: json },
        }
    }

    pub(crate) fn is_shown(&self) -> bool {
        !matches!(self, Progress::Silent)
    }

    /// Tells the end of an epoch; only rank 0's call shows anything. A run does not fail for want
    /// of someone who watches it: what cannot be written is left out.
    pub(crate) fn epoch(&self, rank: usize, line: &EpochLine) {
        let text = line.text();
        match self {
            Progress::Bar(bar) if rank == 0 => {
                bar.set_position(line.epoch as u64);
                bar.set_message(text);
            }
            Progress::Lines { to_stderr: false } if rank == 0 => {
                let _ = writeln!(io::stdout().lock(), "{}", line.numbered(&text));
            }
            Progress::Lines { to_stderr: true } if rank == 0 => {
                let _ = writeln!(io::stderr().lock(), "{}", line.numbered(&text));
            }
            _ => {}
        }
    }

    /// Leaves the bar as it is and ends its line: whatever is said next starts one of its own.
    pub(crate) fn finish(&self) {
        if let Progress::Bar(bar) = self {
            bar.abandon();
            let _ = writeln!(io::stderr().lock());
        }
    }
}

impl EpochLine {
    fn numbered(&self, text: &str) -> String {
        format!("epoch {}/{}  {text}", self.epoch, self.epochs)
    }

    fn text(&self) -> String {
        let TimeShare { compute, reduce, wait } = self.time_share;
        format!(
            "loss {:.4}  accuracy {:.2} %  {:.0} samples/s  compute {:.0} %  reduce {:.0} %  \
             wait {:.0} %",
            self.loss,
            self.accuracy * 100.0,
            self.samples_per_second,
            compute * 100.0,
            reduce * 100.0,
            wait * 100.0
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finished_bar_is_drawn_no_more() {
        let bar = ProgressBar::hidden();
        let progress = Progress::Bar(bar.clone());
        assert!(!bar.is_finished());
        progress.finish();
        assert!(bar.is_finished());
    }
}
