//! Which of our crates may depend on which; ARCHITECTURE.md explains why.

use std::collections::BTreeSet;
use std::process::Command;

const ALLOWED: &[(&str, &str)] = &[
    ("cartridge-search", "cartridge-games"),
    ("cartridge-learn", "cartridge-games"),
    ("cartridge-run", "cartridge-games"),
    ("cartridge-run", "cartridge-search"),
    ("cartridge-run", "cartridge-learn"),
    ("cartridge-run", "cartridge-store"),
    ("cartridge-server", "cartridge-games"),
    ("cartridge-server", "cartridge-run"),
    ("cartridge", "cartridge-run"),
    ("cartridge", "cartridge-server"),
];

/// Crates that must not be reachable from a crate, with what they would bring in.
const FORBIDDEN: &[(&str, &[&str])] = &[
    ("cartridge-games", &["tokio", "rusqlite", "rustix", "safetensors", "axum", "rayon"]),
    ("cartridge-search", &["tokio", "rusqlite", "rustix", "safetensors", "axum"]),
    ("cartridge-learn", &["tokio", "rusqlite", "axum"]),
    ("cartridge-store", &["tokio", "axum"]),
    ("cartridge-run", &["tokio", "axum", "rusqlite"]),
    ("cartridge-server", &["rusqlite"]),
    ("cartridge", &["rusqlite", "axum"]),
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
fn crates_stay_clear_of_what_is_not_theirs() {
    let packages = packages();
    for (name, forbidden) in FORBIDDEN {
        let package = packages.iter().find(|package| package["name"] == **name).unwrap();
        let met: Vec<&str> = dependencies(package).filter(|to| forbidden.contains(to)).collect();
        assert_eq!(met, [""; 0], "{name}");
    }
}
