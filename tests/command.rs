//! The command as a user meets it: output, exit codes, files.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn ringgrad(arguments: &[&str]) -> Output {
    let binary = env!("CARGO_BIN_EXE_ringgrad");
    Command::new(binary).args(arguments).output().expect("the command starts")
}

fn train(arguments: &[&str]) -> Output {
    ringgrad(&[&["train", "--epochs", "3"], arguments].concat())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("the command prints UTF-8")
}

fn report(output: &Output) -> Value {
    let out = text(&output.stdout);
    assert_eq!(out.lines().count(), 1, "{out}");
    serde_json::from_str(out.trim()).unwrap_or_else(|e| panic!("{e}: {out}"))
}

/// Exit code 2 and one line on standard error that has all `parts`; nothing on standard output.
fn assert_refused(output: &Output, parts: &[&str]) {
    let message = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert_eq!((message.lines().count(), output.stdout.len()), (1, 0), "{message}");
    for part in parts {
        assert!(message.contains(part), "no {part:?} in {message}");
    }
}

#[test]
fn training_prints_lines_and_ends_with_the_two_comparisons() {
    let output = train(&[]);
    assert!(output.status.success());
    let out = text(&output.stdout);
    assert_eq!(out.lines().filter(|line| line.starts_with("epoch ")).count(), 3, "{out}");
    let last: Vec<&str> = out.lines().rev().take(3).collect();
    assert!(last[2].starts_with("test accuracy "), "{out}");
    assert!(last[1].starts_with("equivalence: ") && last[1].contains("(0 ulps)"), "{out}");
    assert!(last[0].starts_with("large batch: ") && !last[0].contains("(0 ulps)"), "{out}");
    for part in ["loss ", "accuracy ", "samples/s", "compute ", "reduce ", "wait "] {
        assert!(out.lines().next().is_some_and(|line| line.contains(part)), "{part}: {out}");
    }
}

#[test]
fn json_is_one_line_with_every_figure() {
    let output = train(&["--json"]);
    let report = report(&output);
    let number = |path: &str| {
        report.pointer(path).and_then(Value::as_f64).unwrap_or_else(|| panic!("{path}: {report}"))
    };
    assert!(number("/test_accuracy") > 0.8 && number("/test_accuracy") <= 1.0);
    assert!(number("/test_loss") > 0.0 && number("/train_loss") > 0.0);
    assert_eq!((number("/ranks"), number("/shards"), number("/steps")), (4.0, 8.0, 69.0));
    assert!(number("/step_ms") > 0.0);
    let share = ["compute", "reduce", "wait"].map(|part| number(&format!("/time_share/{part}")));
    assert!((share.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{share:?}");
    assert_eq!((number("/equivalence/max_abs"), number("/equivalence/max_ulps")), (0.0, 0.0));
    assert!(number("/large_batch/max_abs") < 1e-4 && number("/large_batch/max_ulps") > 0.0);
    assert_eq!((&report["device"], &report["algorithm"]), (&"cpu".into(), &"tree".into()));
    assert_eq!(report["params_sha256"].as_str().map(str::len), Some(64));
}

#[test]
fn the_default_training_recognises_97_of_100_test_digits() {
    let report = report(&ringgrad(&["train", "--quiet", "--json"]));
    assert!(report["test_accuracy"].as_f64() >= Some(0.97), "{report}");
    assert_eq!(report["equivalence"]["max_ulps"], 0, "{report}");
}

#[test]
fn the_parameters_do_not_depend_on_the_ranks_but_on_seed_and_shards() {
    let hash = |arguments: &[&str]| {
        let output = train(&[&["--json", "--quiet"], arguments].concat());
        report(&output)["params_sha256"].as_str().expect("a hash").to_owned()
    };
    let four = hash(&[]);
    for other in [&["--ranks", "1"][..], &["--ranks", "3"], &["--threads-per-rank", "2"]] {
        assert_eq!(hash(other), four, "{other:?}");
    }
    assert_ne!(hash(&["--seed", "2"]), four);
    assert_ne!(hash(&["--shards", "4"]), four);
    assert_ne!(hash(&["--algorithm", "ring"]), four);
}

#[test]
fn a_broken_sync_is_reported_and_ends_with_1() {
    for fault in ["no-reduce", "half-reduced", "rank-seed"] {
        let output = train(&["--break-sync", fault]);
        assert_eq!(output.status.code(), Some(1), "{fault}");
        let out = text(&output.stdout);
        assert!(out.contains("replicas drifted apart: after epoch 1 rank 1"), "{fault}: {out}");
        let json = report(&train(&["--json", "--break-sync", fault]));
        assert_eq!(json["drift"]["rank"], 1, "{fault}");
        assert!(json["equivalence"]["max_ulps"].as_u64() > Some(0), "{fault}: {json}");
    }
}

#[test]
fn every_rule_schedule_and_clipping_trains_with_equal_bits_at_any_number_of_ranks() {
    for arguments in [
        &["--optim", "adamw", "--schedule", "warmup:10,cosine", "--clip", "1"][..],
        &["--optim", "adam", "--weight-decay", "0.001"],
        &["--optim", "rmsprop", "--momentum", "0.5", "--lr", "0.002", "--schedule", "linear"],
        &["--optim", "adagrad", "--schedule", "step:30,0.5"],
    ] {
        let run =
            |more: &[&str]| report(&train(&[arguments, more, &["--json", "--quiet"]].concat()));
        let (four, three) = (run(&[]), run(&["--ranks", "3"]));
        assert_eq!(four["params_sha256"], three["params_sha256"], "{arguments:?}");
        assert_eq!(four["equivalence"]["max_ulps"], 0, "{arguments:?}");
        assert!(four["test_accuracy"].as_f64() > Some(0.8), "{arguments:?}: {four}");
    }
}

#[test]
fn options_of_the_update_that_do_not_fit_are_refused_in_one_line() {
    assert_refused(&train(&["--optim", "adamw", "--momentum", "0.9"]), &["only sgd and rmsprop"]);
    assert_refused(&train(&["--schedule", "cos"]), &["--schedule", "known are constant"]);
    assert_refused(&train(&["--optim", "lion"]), &["--optim", "'lion'", "adamw"]);
}

#[test]
fn saved_parameters_are_loaded_again_bit_for_bit() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("digits.safetensors");
    let path = file.to_str().unwrap();
    let saved = report(&train(&["--json", "--save", path]));
    let tensors = std::fs::read(&file).unwrap();
    let tensors = safetensors::SafeTensors::deserialize(&tensors).unwrap();
    let mut names = tensors.names();
    names.sort();
    assert_eq!(names, ["layers.0.bias", "layers.0.weight", "layers.1.bias", "layers.1.weight"]);
    assert_eq!(tensors.tensor("layers.0.weight").unwrap().shape(), [48, 64]);
    // With a learning rate of 0 the loaded parameters stay what they are.
    let loaded = report(&train(&["--json", "--load", path, "--lr", "0"]));
    assert_eq!(loaded["params_sha256"], saved["params_sha256"]);
    assert_eq!(loaded["test_accuracy"], saved["test_accuracy"]);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn impossible_options_are_refused_in_one_line() {
    for (option, bad) in [
        ("--ranks", &["0", "-1", "1.5", "1025", "18446744073709551616", "--json"][..]),
        ("--shards", &["0", "65537"]),
        ("--threads-per-rank", &["0", "100000"]),
        ("--batch", &["x", "99999999999999999999"]),
        ("--seed", &["-1", "0.5"]),
        ("--lr", &["-1", "-inf", "nan", "1e300", "x"]),
        ("--momentum", &["-0.1", "1", "nan", "inf"]),
        ("--weight-decay", &["-0.1", "nan", "1e300"]),
        ("--clip", &["0", "-1", "inf", "x"]),
        ("--schedule", &["step:0,0.5", "exponential:nan"]),
        ("--deadline", &["0", "1e-9", "-1", "inf", "86401"]),
    ] {
        for value in bad {
            let parts = [option, &format!("'{value}'"), "it must be "];
            assert_refused(&train(&[option, value]), &parts);
        }
    }
    assert_refused(&ringgrad(&["train", "--epochs", "0"]), &["--epochs", "'0'", "from 1 to"]);
    assert_refused(&train(&["--ranks"]), &["--ranks", "value is required", "--help"]);
    let threads = ["--ranks", "5", "--threads-per-rank", "205"];
    assert_refused(&train(&threads), &["1025 threads", "at most 1024"]);
    for size in ["1000000000", "18446744073709551615"] {
        let model = format!("mlp:64-{size}-10");
        assert_refused(&train(&["--model", &model]), &[size, "parameters", "at most 268435456"]);
    }
    let model = "mlp:64-18446744073709551616-10";
    assert_refused(&train(&["--model", model]), &[model, "too large"]);
    assert_refused(&train(&["--ranks", "9"]), &["--ranks 9", "--shards 8", "fewer ranks"]);
    assert_refused(&train(&["--batch", "7"]), &["--batch 7", "--shards 8"]);
    assert_refused(&train(&["--model", "mlp:64-10-3"]), &["64", "10 classes"]);
    let both = ["--break-sync", "rank-seed", "--load", "/nonexistent/x"];
    assert_refused(&train(&both), &["rank-seed", "--load", "leave one"]);
    let unknown = [["--model", "rnn:8"], ["--data", "mnist"], ["--algorithm", "star"]];
    for arguments in unknown.into_iter().chain([["--nonsense", ""]]) {
        assert_refused(&train(&arguments), &arguments);
    }
}

#[test]
fn a_path_that_cannot_be_written_is_refused_before_the_training() {
    let folder = tempfile::tempdir().unwrap();
    let fifo = folder.path().join("fifo");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let inside = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let long = inside(&"x".repeat(300));
    for path in [
        "/nonexistent/x",
        "/dev/full",
        "/proc/x",
        &long,
        &inside("new/"),
        &inside(""),
        &inside("fifo"),
    ] {
        assert_refused(&train(&["--save", path]), &["--save", path, "cannot be written"]);
    }
    let data = format!("csv:{}", inside("fifo"));
    assert_refused(&train(&["--data", &data]), &["not a regular file"]);
    assert_refused(&train(&["--load", &inside("fifo")]), &["not a regular file"]);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn arguments_with_line_ends_make_one_line() {
    for option in ["--load", "--save", "--model", "--data", "--lr", "--a\n\nb"] {
        for value in ["csv:a\n\nb\u{1b}[2J", "a/\r\nb"] {
            // In a folder that is not there, so that nothing can be written.
            let value = value.replacen("a", "/nonexistent/a", 1);
            let output = train(&[option, &value]);
            assert_refused(&output, &[": "]);
            let message = text(&output.stderr);
            assert!(!message.trim_end().chars().any(char::is_control), "{message:?}");
        }
    }
}

/// Runs `script` in a shell, with the command as `$0` and the arguments of a short run as `$@`.
fn in_shell(script: &str, arguments: &[&str]) -> Output {
    let binary = env!("CARGO_BIN_EXE_ringgrad");
    let arguments = [&["-c", script, binary, "train", "--epochs", "2"], arguments].concat();
    Command::new("sh").args(arguments).output().expect("a shell starts")
}

#[test]
fn output_that_nobody_takes_is_told_in_one_line_and_ends_with_1() {
    for script in [r#""$0" "$@" > /dev/full"#, r#"{ "$0" "$@"; echo $? >&3; } 3>&1 >/dev/full"#] {
        for options in [&["--quiet"][..], &[], &["--json"], &["--help"]] {
            let output = in_shell(&format!("{script} 2>&2"), options);
            let lines = text(&output.stderr);
            let told = lines.lines().filter(|line| line.starts_with("ringgrad: ")).count();
            assert_eq!(told, 1, "{lines}");
            assert!(lines.contains("standard output") && !lines.contains("panicked"), "{lines}");
            assert!(
                output.status.code() == Some(1) || text(&output.stdout) == "1\n",
                "{options:?}"
            );
        }
    }
    let output = in_shell(r#"{ "$0" "$@"; echo $? >&2; } | true"#, &["--quiet"]);
    assert!(text(&output.stderr).ends_with("\n1\n"), "{output:?}");
    // Progress that nobody reads is no failure, and neither is a complaint.
    let output = in_shell(r#""$0" "$@" 2>/dev/full"#, &["--json"]);
    assert!(output.status.success() && !report(&output).is_null());
    assert_eq!(in_shell(r#""$0" "$@" 2>/dev/full"#, &["--ranks", "0"]).status.code(), Some(2));
}

#[test]
fn a_save_that_fails_at_the_end_costs_no_report() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.safetensors");
    // No file may grow beyond 512 bytes, which the system then tells as an error.
    let script = r#"trap '' XFSZ; ulimit -f 1; exec "$0" "$@""#;
    let output = in_shell(script, &["--json", "--quiet", "--save", path.to_str().unwrap()]);
    assert_eq!((output.status.code(), text(&output.stderr).lines().count()), (Some(1), 1));
    assert!(text(&output.stderr).contains("x.safetensors"), "{output:?}");
    assert_eq!(report(&output)["steps"], 46);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_run_that_diverges_is_reported_saves_nothing_and_ends_with_1() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("good");
    std::fs::write(&path, "precious").unwrap();
    let save = ["--quiet", "--save", path.to_str().unwrap()];
    let output = train(&[&["--json", "--lr", "1e30"], &save[..]].concat());
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(report(&output)["diverged"], true);
    assert!(report(&output)["test_loss"].is_null());
    let told = text(&output.stderr);
    assert_eq!(told.lines().count(), 1, "{told}");
    assert!(told.contains("diverged") && told.contains("in epoch 1"), "{told}");
    assert_eq!(std::fs::read(&path).unwrap(), b"precious");
    // The losses of the only step are finite, the parameters it makes are too large.
    let one_step = ["--epochs", "1", "--batch", "2000", "--lr", "3e38", "--momentum", "0"];
    let output = ringgrad(&[&["train", "--quiet"], &one_step[..]].concat());
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("after the last epoch"), "{output:?}");
    assert_eq!(report(&train(&["--json"]))["diverged"], false);
}

#[test]
fn replicas_that_stay_equal_are_explained_by_their_cause() {
    let told = |arguments: &[&str]| {
        let output = train(&[&["--quiet", "--break-sync", "no-reduce"], arguments].concat());
        assert_eq!(output.status.code(), Some(1));
        text(&output.stdout)
    };
    let alone = told(&["--ranks", "1"]);
    assert!(alone.contains("with one rank there is nothing to synchronise"), "{alone}");
    let equal = told(&["--lr", "0"]);
    assert!(
        equal.contains("all 4 ranks happened to hold the same") && !equal.contains("one rank ")
    );
}

#[test]
fn the_largest_seed_is_a_seed() {
    let seed = ["--seed", "18446744073709551615", "--break-sync", "rank-seed"];
    let output = train(&seed);
    assert!(text(&output.stdout).contains("drifted apart"), "{output:?}");
}

#[test]
fn bad_files_are_refused_in_one_line_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let ragged = write("ragged.csv", b"1,2,0\n3,4,1\n5,0\n");
    assert_refused(&train(&["--data", &format!("csv:{ragged}")]), &["line 3", "ragged.csv"]);
    let first = write("first.csv", b"1,x4,0\n2,3,1\n");
    assert_refused(&train(&["--data", &format!("csv:{first}")]), &["line 1", "column 2", "x4"]);
    let words = write("words.csv", b"1,2,0\n3,x4,1\n");
    assert_refused(&train(&["--data", &format!("csv:{words}")]), &["line 2", "x4"]);
    assert_refused(&train(&["--data", "csv:/nonexistent.csv"]), &["/nonexistent.csv"]);
    assert_refused(&train(&["--data", "idx:/nonexistent"]), &["/nonexistent"]);
    let garbage = write("garbage.safetensors", b"not a checkpoint");
    let kept = write("kept.safetensors", b"precious");
    let output = train(&["--load", &garbage, "--save", &kept]);
    assert_refused(&output, &["garbage.safetensors"]);
    assert_eq!(std::fs::read(Path::new(&kept)).unwrap(), b"precious");
}

#[test]
fn a_checkpoint_of_another_model_lists_every_difference() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("small.safetensors");
    let path = path.to_str().unwrap();
    assert!(train(&["--quiet", "--model", "mlp:64-20-10", "--save", path]).status.success());
    let output = train(&["--model", "mlp:64-30-20-10", "--load", path]);
    assert_refused(&output, &["layers.0.weight", "layers.1.weight", "layers.2.bias", "[20, 64]"]);
}

#[test]
fn the_help_names_every_option() {
    let help = text(&ringgrad(&["train", "--help"]).stdout);
    for option in "ranks shards model data epochs batch lr momentum algorithm seed \
                   threads-per-rank save load break-sync quiet json deadline"
        .split_whitespace()
    {
        assert!(help.contains(&format!("--{option}")), "{option}: {help}");
    }
    assert_eq!(ringgrad(&[]).status.code(), Some(2));
    assert_eq!(ringgrad(&["--help"]).status.code(), Some(0));
}
