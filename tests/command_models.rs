//! The networks and optimizers of the command, as a user picks them: what they learn, and that
//! ranks change no bit of it.

use std::process::{Command, Output};

use serde_json::Value;

fn train(arguments: &[&str]) -> Output {
    let binary = env!("CARGO_BIN_EXE_ringgrad");
    let command = ["train", "--quiet", "--json"];
    Command::new(binary).args([&command, arguments].concat()).output().expect("the command starts")
}

fn report(arguments: &[&str]) -> Value {
    let output = train(arguments);
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {told}");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {told}"))
}

fn number(report: &Value, name: &str) -> f64 {
    report[name].as_f64().unwrap_or_else(|| panic!("no {name} in {report}"))
}

/// A text of a sentence over and over, in a file that goes with the folder.
fn sentence() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sentence.txt");
    std::fs::write(&path, "the ring goes round; ".repeat(120)).unwrap();
    let data = format!("text:{}", path.display());
    (folder, data)
}

#[test]
fn a_convolutional_network_reads_digits() {
    let report = report(&["--model", "cnn:8,16", "--ranks", "2", "--no-compare"]);
    let accuracy = number(&report, "test_accuracy");
    assert!(accuracy >= 0.985, "{accuracy}");
}

#[test]
fn a_transformer_learns_a_text_and_writes_it() {
    let (_folder, data) = sentence();
    let options = ["--model", "gpt:16,2,1,16", "--epochs", "40", "--no-compare"];
    let report = report(&[&["--data", data.as_str()], &options[..]].concat());
    assert!(number(&report, "test_loss") < 0.1, "{report}");
    assert!(number(&report, "test_accuracy") > 0.95 && number(&report, "test_accuracy") <= 1.0);
    let sample = report["sample"].as_str().unwrap();
    assert!(sample.contains(" ring goes round; the ring "), "{sample}");
}

#[test]
fn ranks_change_no_bit_of_any_model() {
    let (_folder, data) = sentence();
    let gpt: &[&str] = &["--model", "gpt:16,2,2,8", "--data", &data];
    let cnn: &[&str] = &["--model", "cnn:3,5"];
    for model in [gpt, cnn] {
        let options = ["--ranks", "3", "--epochs", "1", "--clip", "0.5", "--optim", "adam"];
        let report = report(&[model, &options[..]].concat());
        assert_eq!(report["equivalence"]["max_ulps"], 0, "{report}");
        assert!(number(&report["large_batch"], "max_abs") < 1e-3, "{report}");
    }
}

#[test]
fn every_optimizer_and_schedule_learns() {
    for (optim, schedule) in [
        ("sgd", "step:40,0.5"),
        ("adam", "linear"),
        ("adamw", "warmup:10,cosine"),
        ("rmsprop", "exponential:0.99"),
        ("adagrad", "constant"),
    ] {
        let options = ["--epochs", "4", "--no-compare", "--optim", optim, "--schedule", schedule];
        let report = report(&options);
        assert!(number(&report, "test_accuracy") > 0.85, "{optim} {schedule}: {report}");
    }
}

#[test]
fn what_does_not_fit_is_refused_with_a_remedy() {
    let (_folder, data) = sentence();
    let cases: [(&[&str], &[&str]); 7] = [
        (&["--model", "gpt:16,2,1,8"], &["gpt", "text:FILE"]),
        (&["--model", "cnn:8", "--data", &data], &["gpt:D,HEADS,LAYERS,CTX"]),
        (&["--model", "gpt:16,3,1,8", "--data", &data], &["16", "3"]),
        (&["--model", "gpt:16,2,1", "--data", &data], &["gpt:D,HEADS,LAYERS,CTX"]),
        (&["--model", "gpt:16,2,1,99999", "--data", &data], &["99999"]),
        (&["--model", "cnn:8,8,8,8"], &["4 convolutions", "fewer"]),
        (&["--optim", "adam", "--momentum", "0.5"], &["--momentum 0.5", "adam"]),
    ];
    for (arguments, parts) in cases {
        let output = train(arguments);
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {told}");
        assert!(output.stdout.is_empty() && told.lines().count() == 1, "{told}");
        assert!(parts.iter().all(|part| told.contains(part)), "{arguments:?}: {told}");
    }
}
