//! The names of actions and of the numbers of an observation, for people.

use super::observe::N_OBSERVATION;
use super::order::N_ACTIONS;

/// `$name` before each of the words.
macro_rules! each {
    ($name:literal: $($word:literal),*) => { [$(concat!($name, " ", $word)),*] };
}

/// Every word of a slot for each of the slots.
macro_rules! slots {
    ($($slot:literal)* : $words:tt) => { [$(slots!(@ $slot $words)),*] };
    (@ $slot:literal ($($word:literal),*)) => { [$(concat!($slot, ", ", $word)),*] };
}

/// Writes `part` into `all` from `from` on, and says where it ends.
const fn place(all: &mut [&'static str], from: usize, part: &[&'static str]) -> usize {
    let mut index = 0;
    while index < part.len() {
        all[from + index] = part[index];
        index += 1;
    }
    from + part.len()
}

pub(super) static ACTIONS: [&str; N_ACTIONS] = {
    let mut all = [""; N_ACTIONS];
    let at = place(&mut all, 0, &each!("travel to neighbour": "1", "2", "3", "4", "5", "6"));
    let at = place(&mut all, at, &["hold", "emergency burn"]);
    let at = place(&mut all, at, &["wide scan", "focused scan", "deep scan", "threat listen"]);
    let at = place(
        &mut all,
        at,
        &each!("select asteroid": "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12",
            "13", "14", "15", "16"),
    );
    let at = place(&mut all, at, &["mine gently", "mine normally", "mine hard"]);
    let at = place(&mut all, at, &["stabilise", "refine", "cool", "repair tool", "patch hull"]);
    let at = place(
        &mut all,
        at,
        &each!("jettison": "iron", "nickel", "water ice", "platinum group", "rare isotopes",
            "volatiles"),
    );
    let at = place(&mut all, at, &["dock"]);
    let sales = slots!("sell iron" "sell nickel" "sell water ice" "sell platinum group"
        "sell rare isotopes" "sell volatiles": ("25%", "50%", "100%"));
    let at = place(&mut all, at, sales.as_flattened());
    let at = place(&mut all, at, &["buy 120 fuel", "buy 260 fuel", "buy 480 fuel"]);
    let at = place(&mut all, at, &["buy kit", "buy stabiliser", "buy decoy", "overhaul"]);
    let at = place(&mut all, at, &["cash out"]);
    assert!(at == N_ACTIONS);
    all
};

pub(super) static OBSERVATION: [&str; N_OBSERVATION] = {
    let mut all = [""; N_OBSERVATION];
    let at = place(&mut all, 0, &["fuel", "hull", "heat", "tool", "cargo", "alert", "time left"]);
    let at = place(&mut all, at, &["credits"]);
    let at = place(
        &mut all,
        at,
        &each!("cargo of": "iron", "nickel", "water ice", "platinum group", "rare isotopes",
            "volatiles"),
    );
    let at = place(&mut all, at, &["kits", "stabilisers", "decoys"]);
    let at = place(&mut all, at, &["at station", "asteroid selected"]);
    let at = place(&mut all, at, &["node is station", "node is cluster", "node is hazard"]);
    let at = place(&mut all, at, &["node index", "steps to station"]);
    let neighbours = slots!("neighbour 1" "neighbour 2" "neighbour 3" "neighbour 4" "neighbour 5"
        "neighbour 6": ("valid", "station", "cluster", "hazard", "travel time", "fuel", "threat"));
    let at = place(&mut all, at, neighbours.as_flattened());
    let at = place(&mut all, at, &["unused 1", "unused 2"]);
    let asteroids = slots!("asteroid 1" "asteroid 2" "asteroid 3" "asteroid 4" "asteroid 5"
        "asteroid 6" "asteroid 7" "asteroid 8" "asteroid 9" "asteroid 10" "asteroid 11"
        "asteroid 12" "asteroid 13" "asteroid 14" "asteroid 15" "asteroid 16":
        ("valid", "iron", "nickel", "water ice", "platinum group", "rare isotopes", "volatiles",
        "stability", "depletion", "confidence", "selected"));
    let at = place(&mut all, at, asteroids.as_flattened());
    let at = place(
        &mut all,
        at,
        &each!("price of": "iron", "nickel", "water ice", "platinum group", "rare isotopes",
            "volatiles"),
    );
    let at = place(
        &mut all,
        at,
        &each!("price change of": "iron", "nickel", "water ice", "platinum group",
            "rare isotopes", "volatiles"),
    );
    let at = place(
        &mut all,
        at,
        &each!("stock of": "iron", "water ice", "platinum group", "rare isotopes"),
    );
    assert!(at == N_OBSERVATION);
    all
};
