//! The belt: nodes, the roads between them, and the asteroids at each.
//!
//! The graph is made at the start of an episode. The asteroids of a node are made when somebody
//! first comes there, from a seed of the node's own: most episodes see few nodes, and making all
//! of them would take longer than playing a random episode. When they are made does not change
//! what they are.

use super::chance::Chance;

/// Iron, nickel, water ice, platinum group, rare isotopes, volatiles.
pub(super) const N_COMMODITIES: usize = 6;
pub(super) const MAX_NODES: usize = 32;
pub(super) const N_SLOTS: usize = 6;
pub(super) const MAX_ASTEROIDS: usize = 16;
/// The only station.
pub(super) const STATION: usize = 0;

const MIN_NODES: usize = 8;
const MIN_ASTEROIDS: usize = 5;
/// Share of nodes, the station apart, that are hazards.
const HAZARD_SHARE: f64 = 0.25;
/// Range of a node's hazard, and what a hazard node has on top.
const HAZARD: (f64, f64, f64) = (0.05, 0.35, 0.25);
/// Range of a node's pirate intensity, and what a hazard node has on top.
const PIRATES: (f64, f64, f64) = (0.05, 0.30, 0.12);
const MAX_ROAD_TICKS: usize = 8;
const ROAD_FUEL: (f64, f64) = (20.0, 112.0);
const THREAT_DEVIATION: f64 = 0.05;
/// What is believed about a road that nobody has listened to.
const THREAT_PRIOR: f64 = 0.5;
/// What is believed about an asteroid that nobody has scanned is worth this much.
const FIRST_CONFIDENCE: f64 = 0.1;
/// How much of an old threat estimate a threat listening keeps, and the noise of what is heard.
const LISTEN: (f64, f64) = (0.25, 0.08);

/// Nodes and roads.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct World {
    seed: u64,
    /// Room for the greatest belt; only the first `n_nodes` exist.
    nodes: Vec<Node>,
    n_nodes: usize,
    roads: Vec<Road>,
}

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NodeKind {
    Station,
    Cluster,
    Hazard,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Node {
    pub(super) kind: NodeKind,
    /// What the place does to a ship, in `[0, 1]`.
    pub(super) hazard: f64,
    /// How many pirates there are, in `[0, 1]`.
    pub(super) pirates: f64,
    /// Roads to the station.
    pub(super) hops: usize,
    exits: [Exit; N_SLOTS],
    n_exits: usize,
    pub(super) asteroids: [Asteroid; MAX_ASTEROIDS],
    is_charted: bool,
    /// Fractures are rarer here before this tick.
    pub(super) stabilised_until: u32,
}

/// Where a neighbour slot leads, and by which road.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Exit {
    pub(super) to: usize,
    pub(super) road: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Road {
    pub(super) ticks: u32,
    /// For a ship without cargo.
    pub(super) fuel: f64,
    /// Hazard and pirates on the way, in `[0, 1]`.
    pub(super) threat: f64,
    /// What the ship believes of it.
    pub(super) estimate: f64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Asteroid {
    /// There is one in this slot, and it has not broken apart.
    pub(super) is_there: bool,
    /// Shares of the commodities.
    pub(super) composition: [f64; N_COMMODITIES],
    /// Units per tick of a normal tool.
    pub(super) richness: f64,
    /// In `[0, 1]`: how well it holds together.
    pub(super) stability: f64,
    /// In `[0, 1]`: what has been taken out.
    pub(super) depletion: f64,
    /// Deviation of a focused scan.
    pub(super) scan_noise: f64,
    /// What the ship believes of the composition.
    pub(super) composition_estimate: [f64; N_COMMODITIES],
    /// What the ship believes of the stability.
    pub(super) stability_estimate: f64,
    /// In `[0, 1]`: how much it has been scanned.
    pub(super) confidence: f64,
}

impl World {
    /// A belt with room for the greatest, waiting to be generated.
    pub(super) fn new() -> Self {
        let node = Node {
            kind: NodeKind::Station,
            hazard: 0.0,
            pirates: 0.0,
            hops: 0,
            exits: [Exit::default(); N_SLOTS],
            n_exits: 0,
            asteroids: [Asteroid::default(); MAX_ASTEROIDS],
            is_charted: false,
            stabilised_until: 0,
        };
        Self {
            seed: 0,
            nodes: vec![node; MAX_NODES],
            n_nodes: 0,
            roads: Vec::with_capacity(2 * MAX_NODES),
        }
    }

    /// Makes a new belt in the place of the old.
    pub(super) fn generate(&mut self, chance: &mut Chance) {
        self.seed = chance.next_u64();
        self.n_nodes = chance.whole(MIN_NODES, MAX_NODES);
        self.roads.clear();
        for index in 0..self.n_nodes {
            let node = &mut self.nodes[index];
            node.n_exits = 0;
            node.is_charted = false;
            node.stabilised_until = 0;
            (node.kind, node.hazard, node.pirates) = (NodeKind::Station, 0.0, 0.0);
            if index != STATION {
                let is_hazard = chance.is_true(HAZARD_SHARE);
                node.kind = if is_hazard { NodeKind::Hazard } else { NodeKind::Cluster };
                let mut level = |(low, high, extra): (f64, f64, f64)| {
                    chance.between(low, high) + if is_hazard { extra } else { 0.0 }
                };
                (node.hazard, node.pirates) = (level(HAZARD), level(PIRATES));
            }
        }
        // A random tree, so that everything can be reached.
        for index in 1..self.n_nodes {
            let mut other = chance.below(index);
            while self.nodes[other].n_exits == N_SLOTS {
                other = chance.below(index);
            }
            self.connect(index, other, chance);
        }
        // Then as many more roads as there are nodes, where there is room.
        for _ in 0..self.n_nodes {
            let (a, b) = (chance.below(self.n_nodes), chance.below(self.n_nodes));
            let is_full = |node: usize| self.nodes[node].n_exits == N_SLOTS;
            if a != b && !is_full(a) && !is_full(b) && self.exits(a).iter().all(|e| e.to != b) {
                self.connect(a, b, chance);
            }
        }
        self.measure_hops();
    }

    fn connect(&mut self, a: usize, b: usize, chance: &mut Chance) {
        let threat = |node: &Node| (node.hazard + node.pirates) / 2.0;
        let mean = (threat(&self.nodes[a]) + threat(&self.nodes[b])) / 2.0;
        let road = self.roads.len();
        self.roads.push(Road {
            ticks: chance.whole(1, MAX_ROAD_TICKS) as u32,
            fuel: chance.between(ROAD_FUEL.0, ROAD_FUEL.1),
            threat: (mean + THREAT_DEVIATION * chance.normal()).clamp(0.0, 1.0),
            estimate: THREAT_PRIOR,
        });
        for (from, to) in [(a, b), (b, a)] {
            let node = &mut self.nodes[from];
            node.exits[node.n_exits] = Exit { to, road };
            node.n_exits += 1;
        }
    }

    /// Breadth first from the station.
    fn measure_hops(&mut self) {
        let mut queue = [STATION; MAX_NODES];
        let (mut head, mut tail) = (0, 1);
        let mut is_reached = [false; MAX_NODES];
        is_reached[STATION] = true;
        self.nodes[STATION].hops = 0;
        while head < tail {
            let from = queue[head];
            head += 1;
            for slot in 0..self.nodes[from].n_exits {
                let to = self.nodes[from].exits[slot].to;
                if !is_reached[to] {
                    is_reached[to] = true;
                    self.nodes[to].hops = self.nodes[from].hops + 1;
                    queue[tail] = to;
                    tail += 1;
                }
            }
        }
    }

    /// Makes the asteroids of a node, if nobody has been there.
    pub(super) fn chart(&mut self, index: usize) {
        let node = &mut self.nodes[index];
        if node.is_charted {
            return;
        }
        node.is_charted = true;
        // The node's own numbers, wherever the ship has been before.
        let mut chance =
            Chance::new(self.seed ^ (index as u64).wrapping_mul(0xd605_bbb5_8c8a_bbfd));
        let n_asteroids = match node.kind {
            NodeKind::Station => 0,
            _ => chance.whole(MIN_ASTEROIDS, MAX_ASTEROIDS),
        };
        for (slot, asteroid) in node.asteroids.iter_mut().enumerate() {
            *asteroid =
                if slot < n_asteroids { Asteroid::new(&mut chance) } else { Asteroid::default() };
        }
    }

    pub(super) fn n_nodes(&self) -> usize {
        self.n_nodes
    }

    pub(super) fn node(&self, index: usize) -> &Node {
        &self.nodes[index]
    }

    pub(super) fn node_mut(&mut self, index: usize) -> &mut Node {
        &mut self.nodes[index]
    }

    /// The neighbour slots of a node that lead somewhere.
    pub(super) fn exits(&self, node: usize) -> &[Exit] {
        let node = &self.nodes[node];
        &node.exits[..node.n_exits]
    }

    pub(super) fn road(&self, index: usize) -> &Road {
        &self.roads[index]
    }

    #[cfg(test)]
    pub(super) fn road_mut(&mut self, index: usize) -> &mut Road {
        &mut self.roads[index]
    }

    /// Improves what the ship believes of the roads that leave `node`.
    pub(super) fn listen(&mut self, node: usize, chance: &mut Chance) {
        let Node { exits, n_exits, .. } = &self.nodes[node];
        for exit in &exits[..*n_exits] {
            let road = &mut self.roads[exit.road];
            let heard = (road.threat + LISTEN.1 * chance.normal()).clamp(0.0, 1.0);
            road.estimate = LISTEN.0 * road.estimate + (1.0 - LISTEN.0) * heard;
        }
    }
}

impl Node {
    /// Whether somebody has been there.
    pub(super) fn is_charted(&self) -> bool {
        self.is_charted
    }
}

impl Asteroid {
    fn new(chance: &mut Chance) -> Self {
        Self {
            is_there: true,
            composition: chance.composition(),
            richness: (-0.2 + 0.65 * chance.normal()).exp().clamp(0.2, 4.0),
            stability: chance.beta_3_2(),
            depletion: 0.0,
            scan_noise: chance.between(0.04, 0.22),
            composition_estimate: chance.composition(),
            stability_estimate: chance.beta_3_2(),
            confidence: FIRST_CONFIDENCE,
        }
    }

    /// Moves what is believed by `blend` towards a noisy look at the truth.
    pub(super) fn scan(&mut self, scan: &Scan, chance: &mut Chance) {
        let deviation = self.scan_noise * scan.noise;
        let mut total = 0.0;
        for (estimate, truth) in self.composition_estimate.iter_mut().zip(self.composition) {
            let seen = (truth + deviation * chance.normal()).max(0.0);
            *estimate += scan.blend * (seen - *estimate);
            total += *estimate;
        }
        // Some of the old estimate is left, so the total is above zero.
        self.composition_estimate.iter_mut().for_each(|share| *share /= total);
        let seen = (self.stability + deviation * chance.normal()).clamp(0.0, 1.0);
        self.stability_estimate += scan.blend * (seen - self.stability_estimate);
        self.confidence = (self.confidence + scan.confidence).min(1.0);
    }
}

/// What a kind of scan costs and how much it tells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scan {
    pub(super) ticks: u32,
    pub(super) fuel: f64,
    pub(super) alert: f64,
    blend: f64,
    confidence: f64,
    /// Multiple of the asteroid's scan noise.
    noise: f64,
}

/// Looks at every asteroid of the node.
pub(super) const WIDE: Scan =
    Scan { ticks: 3, fuel: 5.0, alert: 4.0, blend: 0.22, confidence: 0.10, noise: 1.35 };
/// Looks at the selected asteroid.
pub(super) const FOCUSED: Scan =
    Scan { ticks: 2, fuel: 4.0, alert: 3.0, blend: 0.42, confidence: 0.20, noise: 1.0 };
/// Looks at the selected asteroid closely.
pub(super) const DEEP: Scan =
    Scan { ticks: 4, fuel: 8.0, alert: 6.0, blend: 0.80, confidence: 0.45, noise: 0.55 };
