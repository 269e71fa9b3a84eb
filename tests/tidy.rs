//! House rules that a machine can hold: the crate graph, file lengths, module docs, and where
//! `unsafe` and atomics may stand. Each rule is a function of texts, and is itself tested against
//! a text that breaks it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const CRATES: [&str; 5] = ["kernels", "tensor", "autograd", "nn", "dist"];

/// Every edge that the crate graph may have.
///
/// `nn` and `dist` are siblings: neither names the other. They meet in the root package.
const EDGES: [(&str, &str); 9] = [
    ("tensor", "kernels"),
    ("autograd", "tensor"),
    ("autograd", "kernels"),
    ("nn", "autograd"),
    ("nn", "tensor"),
    ("nn", "kernels"),
    ("dist", "autograd"),
    ("dist", "tensor"),
    ("dist", "kernels"),
];

const LINES_MAX: usize = 400;
const WIDTH_MAX: usize = 100;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Every `.rs` and `.cu` file of the project.
fn sources() -> Vec<(String, String)> {
    let mut found = Vec::new();
    let folders = CRATES.iter().chain(&["src", "tests", "examples", "benches"]);
    let mut stack: Vec<PathBuf> = folders.map(|folder| root().join(folder)).collect();
    while let Some(folder) = stack.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries {
            let path = entry.expect("a readable folder").path();
            if path.is_dir() {
                stack.push(path);
            } else if path.extension().is_some_and(|e| e == "rs" || e == "cu") {
                let name = path.strip_prefix(root()).expect("inside").display().to_string();
                found.push((name, read(&path)));
            }
        }
    }
    found.sort();
    assert!(found.len() > 50, "the walk found only {} files", found.len());
    found
}

/// Edges to workspace crates that a manifest declares, outside its dev-dependencies.
fn edges_of(manifest: &str) -> BTreeSet<String> {
    let mut section = "";
    let mut edges = BTreeSet::new();
    for line in manifest.lines() {
        let line = line.trim();
        if line.starts_with('[') {
            section = line;
        }
        let name = line.split(['=', '.', ' ']).next().unwrap_or_default();
        let counts = section.ends_with("dependencies]") && !section.contains("dev-");
        if counts && CRATES.contains(&name) {
            edges.insert(name.to_owned());
        }
    }
    edges
}

fn unexpected_edges(name: &str, manifest: &str) -> Vec<String> {
    let allowed = |to: &String| EDGES.contains(&(name, to));
    edges_of(manifest).into_iter().filter(|to| !allowed(to)).collect()
}

#[test]
fn the_crate_graph_has_no_other_edge() {
    for name in CRATES {
        let manifest = read(&root().join(name).join("Cargo.toml"));
        assert_eq!(unexpected_edges(name, &manifest), Vec::<String>::new(), "{name}");
    }
    let manifest = "[dependencies]\ndist = { workspace = true }\n[dev-dependencies]\nkernels.x = 1";
    assert_eq!(unexpected_edges("nn", manifest), ["dist"]);
    assert_eq!(unexpected_edges("tensor", "[dependencies]\nautograd.workspace = true").len(), 1);
    assert_eq!(unexpected_edges("tensor", "[dependencies]\nkernels.workspace = true").len(), 0);
}

fn too_long(text: &str) -> bool {
    text.lines().count() > LINES_MAX || text.lines().any(|line| line.chars().count() > WIDTH_MAX)
}

#[test]
fn no_file_is_longer_than_a_reader_bears() {
    for (name, text) in sources() {
        let wide = text.lines().position(|line| line.chars().count() > WIDTH_MAX);
        let (lines, wide) = (text.lines().count(), wide.map(|line| line + 1));
        assert!(!too_long(&text), "{name} has {lines} lines; the first wide one: {wide:?}");
    }
    assert!(too_long(&"x\n".repeat(LINES_MAX + 1)));
    assert!(too_long(&"x".repeat(WIDTH_MAX + 1)));
    assert!(!too_long(&"x\n".repeat(LINES_MAX)));
}

fn has_module_doc(text: &str) -> bool {
    let first = text.lines().find(|line| !line.is_empty() && !line.starts_with("#!["));
    first.is_some_and(|line| line.strip_prefix("//! ").is_some_and(|doc| doc.len() > 10))
}

#[test]
fn every_module_says_first_what_it_is_for() {
    for (name, text) in sources() {
        assert!(has_module_doc(&text), "{name} starts without a module doc");
    }
    assert!(!has_module_doc("use std::fmt;\n//! Too late to be a doc."));
    assert!(!has_module_doc("//!\nfn main() {}"));
    assert!(has_module_doc("#![cfg(loom)]\n//! A file for something."));
}

/// The code of a line, without its comment. Rough: a `//` inside a string also ends it.
fn code(line: &str) -> &str {
    line.split("//").next().unwrap_or_default()
}

fn uses_unsafe(text: &str) -> bool {
    let words = |line: &str| {
        code(line).split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == "unsafe")
    };
    text.lines().any(words)
}

#[test]
fn unsafe_stays_in_kernels() {
    // This file has to spell the word; a test that counts allocations has to replace the
    // allocator, which no safe code can.
    let exempt = ["tests/tidy.rs", "tests/live_bytes.rs"];
    for (name, text) in sources() {
        let allowed = name.starts_with("kernels/src/") || exempt.contains(&name.as_str());
        assert!(allowed || !uses_unsafe(&text), "{name} has unsafe code");
    }
    for name in ["tensor", "autograd", "nn", "dist", "."] {
        let lib = read(&root().join(name).join("src/lib.rs"));
        assert!(lib.contains("#![forbid(unsafe_code)]"), "{name} does not forbid it");
    }
    assert!(uses_unsafe("let x = unsafe { y };"));
    assert!(!uses_unsafe("// unsafe\n#![forbid(unsafe_code)]"));
}

fn names_a_lock_or_atomic(text: &str) -> bool {
    ["std::sync::atomic", "std::sync::Mutex", "std::sync::Condvar", "std::sync::RwLock"]
        .iter()
        .any(|word| text.lines().any(|line| code(line).contains(word)))
}

#[test]
fn in_dist_one_file_names_locks_and_atomics() {
    for (name, text) in sources() {
        let dist = name.starts_with("dist/src/") && name != "dist/src/sync.rs";
        assert!(!dist || !names_a_lock_or_atomic(&text), "{name}: take it from sync.rs");
    }
    assert!(names_a_lock_or_atomic("use std::sync::atomic::AtomicU64;"));
    assert!(!names_a_lock_or_atomic("use std::sync::Arc;"));
}

#[test]
fn libraries_read_no_environment() {
    for (name, text) in sources() {
        let library = CRATES.iter().any(|c| name.starts_with(&format!("{c}/src/")));
        let reads = text.lines().any(|line| code(line).contains("env::var"));
        assert!(!(library && reads), "{name}: configuration is an argument");
    }
}

/// Words in backticks that look like paths of this repository.
fn named_paths(text: &str) -> Vec<&str> {
    let inside = text.split('`').skip(1).step_by(2);
    let heads = CRATES.iter().chain(&["src", "tests", "examples", "benches", "docs", "data"]);
    let heads: Vec<String> = heads.map(|head| format!("{head}/")).collect();
    inside
        .filter(|word| heads.iter().any(|head| word.starts_with(head.as_str())))
        .filter(|word| !word.contains(['*', ' ', '<']) && !word.contains("NAME"))
        .collect()
}

#[test]
fn every_path_that_the_documents_name_exists() {
    for document in ["README.md", "ARCHITECTURE.md", "docs/DESIGN.md", "docs/SEMANTICS.md"] {
        let text = read(&root().join(document));
        for path in named_paths(&text) {
            assert!(root().join(path).exists(), "{document} names {path}");
        }
    }
    assert_eq!(
        named_paths("see `dist/src/x.rs` and `cargo test` and `tests/`"),
        ["dist/src/x.rs", "tests/"]
    );
}

#[test]
fn the_architecture_fits_in_150_lines() {
    assert!(read(&root().join("ARCHITECTURE.md")).lines().count() <= 150);
}
