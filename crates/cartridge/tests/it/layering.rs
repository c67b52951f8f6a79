//! Which of our crates may depend on which; ARCHITECTURE.md explains why.

use std::collections::BTreeSet;
use std::process::Command;

const ALLOWED: &[(&str, &str)] = &[
    ("cartridge-search", "cartridge-games"),
    ("cartridge-learn", "cartridge-games"),
    ("cartridge-learn", "cartridge-search"),
    ("cartridge-media", "cartridge-games"),
    ("cartridge-run", "cartridge-games"),
    ("cartridge-run", "cartridge-search"),
    ("cartridge-run", "cartridge-learn"),
    ("cartridge-run", "cartridge-media"),
    ("cartridge-run", "cartridge-store"),
    ("cartridge-engine", "cartridge-games"),
    ("cartridge-server", "cartridge-games"),
    ("cartridge-server", "cartridge-grpc"),
    ("cartridge-server", "cartridge-media"),
    ("cartridge-server", "cartridge-run"),
    ("cartridge", "cartridge-engine"),
    ("cartridge", "cartridge-run"),
    ("cartridge", "cartridge-server"),
];

/// What a crate must not use itself: SQL stays in the store, HTTP in the server, gRPC in its
/// doors, async above run.
const NOT_DIRECTLY: &[(&str, &[&str])] = &[
    ("cartridge-store", &["tokio", "axum"]),
    ("cartridge-run", &["tokio", "axum", "rusqlite"]),
    ("cartridge-server", &["rusqlite", "tonic"]),
    ("cartridge-engine", &["axum"]),
    ("cartridge", &["rusqlite", "axum", "tonic"]),
];

/// What must not be reachable from a crate by any way.
const NOT_REACHABLE: &[(&str, &[&str])] = &[
    ("cartridge-games", &["tokio", "rusqlite", "rustix", "safetensors", "axum", "rayon", "mio"]),
    ("cartridge-search", &["tokio", "rusqlite", "rustix", "safetensors", "axum", "mio"]),
    ("cartridge-learn", &["tokio", "rusqlite", "axum", "mio"]),
    ("cartridge-media", &["tokio", "rusqlite", "rustix", "axum", "mio"]),
    ("cartridge-store", &["tokio", "axum", "mio"]),
    ("cartridge-run", &["tokio", "axum", "mio"]),
    // The rules can be served without a lab.
    ("cartridge-engine", &["cartridge-run", "cartridge-store", "cartridge-learn", "rusqlite"]),
];

fn packages() -> Vec<serde_json::Value> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version=1"])
        .output()
        .unwrap();
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    metadata["packages"].as_array().unwrap().clone()
}

/// The names of a package's ordinary dependencies; those of tests may point anywhere.
fn dependencies(package: &serde_json::Value) -> impl Iterator<Item = &str> {
    let all = package["dependencies"].as_array().unwrap().iter();
    all.filter(|dependency| dependency["kind"].is_null())
        .map(|dependency| dependency["name"].as_str().unwrap())
}

#[test]
fn crates_depend_only_downwards() {
    let packages = packages();
    let ours: BTreeSet<&str> = packages.iter().map(|p| p["name"].as_str().unwrap()).collect();
    let mut actual = BTreeSet::new();
    for package in &packages {
        let name = package["name"].as_str().unwrap();
        actual.extend(dependencies(package).filter(|to| ours.contains(to)).map(|to| (name, to)));
    }
    assert_eq!(actual, ALLOWED.iter().copied().collect());
}

#[test]
fn crates_do_not_use_what_is_not_theirs() {
    let packages = packages();
    for (name, forbidden) in NOT_DIRECTLY {
        let package = packages.iter().find(|package| package["name"] == **name).unwrap();
        let met: Vec<&str> = dependencies(package).filter(|to| forbidden.contains(to)).collect();
        assert_eq!(met, [""; 0], "{name}");
    }
}

#[test]
fn crates_do_not_reach_what_they_must_not_know() {
    for (name, forbidden) in NOT_REACHABLE {
        let output = Command::new(env!("CARGO"))
            .args([
                "tree",
                "--offline",
                "--edges=normal",
                "--prefix=none",
                "--format={p}",
                "--package",
                name,
            ])
            .output()
            .unwrap();
        let tree = String::from_utf8(output.stdout).unwrap();
        let reached: BTreeSet<&str> =
            tree.lines().filter_map(|line| line.split(' ').next()).collect();
        assert!(reached.contains(name), "{tree}");
        let met: Vec<&&str> = forbidden.iter().filter(|to| reached.contains(**to)).collect();
        assert_eq!(met, [&""; 0], "{name}");
    }
}
