//! The picture of a belt: the map on the left, the ship, its node and the market on the right.
//!
//! It shows what the ship knows, not what is true.

use std::f32::consts::{FRAC_PI_2, TAU};

use super::market::BASE;
use super::order::SELECT;
use super::ship::{MAX_CARGO, MAX_FUEL, MAX_LEVEL};
use super::world::{MAX_ASTEROIDS, MAX_NODES, N_COMMODITIES, NodeKind, STATION, World};
use super::{AsteroidProspector, MAX_TICKS};
use crate::scene::{Paint, Scene, Shape};

const VIEW: [f32; 4] = [0.0, 0.0, 20.0, 10.0];
/// The middle of the map and its reach.
const MAP: ([f32; 2], [f32; 2]) = ([5.3, 5.0], [4.75, 4.45]);
const NODE: f32 = 0.2;
const THIN: f32 = 0.025;
const SMALL: f32 = 0.26;
const TEXT: f32 = 0.3;
/// Left and right of the panels beside the map.
const PANEL: (f32, f32) = (10.9, 19.8);
const COMMODITIES: [&str; N_COMMODITIES] =
    ["iron", "nickel", "ice", "platinum", "isotopes", "volatile"];

pub(super) fn draw(env: &AsteroidProspector) -> Scene {
    let mut shapes = Vec::with_capacity(256);
    map(env, &mut shapes);
    gauges(env, &mut shapes);
    asteroids(env, &mut shapes);
    market(env, &mut shapes);
    Scene { view: VIEW, shapes }
}

/// The belt: the station in the middle, every node as far out as it has roads to go.
fn map(env: &AsteroidProspector, shapes: &mut Vec<Shape>) {
    let AsteroidProspector { world, ship, .. } = env;
    let places = places(world);
    for from in 0..world.n_nodes() {
        for exit in world.exits(from).iter().filter(|exit| exit.to > from) {
            let is_exit = from == ship.node || exit.to == ship.node;
            let (paint, width) =
                if is_exit { (Paint::SceneEdge, 2.0 * THIN) } else { (Paint::SceneLine, THIN) };
            shapes.push(Shape::line([places[from], places[exit.to]], paint, width));
        }
    }
    for (node, &[x, y]) in places.iter().enumerate().take(world.n_nodes()) {
        let is_known = world.node(node).is_charted();
        shapes.push(Shape::disc([x, y], NODE + 0.07, Paint::SceneBg));
        shapes.push(match (world.node(node).kind, is_known) {
            (NodeKind::Station, _) => {
                let half = NODE + 0.05;
                Shape::rectangle([x - half, y - half], [x + half, y + half], Paint::SceneLive)
            }
            (NodeKind::Cluster, true) => Shape::disc([x, y], NODE, Paint::SceneBody),
            (NodeKind::Cluster, false) => Shape::ring([x, y], NODE, Paint::SceneBody, 2.0 * THIN),
            (NodeKind::Hazard, true) => Shape::area(triangle([x, y]), Paint::SceneWarm),
            (NodeKind::Hazard, false) => Shape::Polygon {
                points: triangle([x, y]).to_vec(),
                fill: None,
                stroke: Some(Paint::SceneWarm),
                width: 2.0 * THIN,
            },
        });
    }
    // The ship, and beside each neighbour the number of the slot by which one travels there.
    shapes.push(Shape::ring(places[ship.node], NODE + 0.18, Paint::Accent, 0.08));
    for (slot, exit) in world.exits(ship.node).iter().enumerate() {
        let [x, y] = places[exit.to];
        let beside = [x + 0.42, y + 0.2];
        shapes.push(Shape::disc(beside, 0.15, Paint::SceneBg));
        shapes.push(Shape::text(beside, (slot + 1).to_string(), TEXT, Paint::Accent));
    }
    let legend = "■ station · ● cluster · ▲ hazard · hollow: not visited · ring: ship";
    shapes.push(Shape::text([MAP.0[0], 0.22], legend, 0.2, Paint::SceneText));
}

fn triangle([x, y]: [f32; 2]) -> [[f32; 2]; 3] {
    let (width, height) = (NODE * 1.15, NODE * 1.2);
    [[x - width, y - 0.75 * height], [x + width, y - 0.75 * height], [x, y + height]]
}

/// Where each node is drawn: rings by distance, and each branch in a sector as wide as it has
/// ends.
fn places(world: &World) -> [[f32; 2]; MAX_NODES] {
    let n_nodes = world.n_nodes();
    // The tree of shortest ways: each node hangs on its first neighbour nearer to the station.
    let hops = |node: usize| world.node(node).hops;
    let mut parent = [STATION; MAX_NODES];
    for (node, parent) in parent.iter_mut().enumerate().take(n_nodes).skip(1) {
        let nearer = world.exits(node).iter().find(|exit| hops(exit.to) + 1 == hops(node));
        *parent = nearer.expect("every node can be reached").to;
    }
    let mut by_distance: Vec<usize> = (0..n_nodes).collect();
    by_distance.sort_by_key(|&node| hops(node));
    let mut n_ends = [0_u32; MAX_NODES];
    for &node in by_distance.iter().rev() {
        n_ends[node] = n_ends[node].max(1);
        if node != STATION {
            n_ends[parent[node]] += n_ends[node];
        }
    }
    let deepest = by_distance.last().map_or(1, |&node| hops(node)).max(1) as f32;
    let mut sector = [(0.0_f32, TAU); MAX_NODES];
    let mut used = [0.0_f32; MAX_NODES];
    let mut places = [MAP.0; MAX_NODES];
    for &node in by_distance.iter().filter(|&&node| node != STATION) {
        let above = parent[node];
        let (start, width) = sector[above];
        let own = width * n_ends[node] as f32 / n_ends[above] as f32;
        sector[node] = (start + used[above], own);
        used[above] += own;
        let angle = FRAC_PI_2 - (sector[node].0 + own / 2.0);
        let reach = hops(node) as f32 / deepest;
        let ([x, y], [wide, high]) = MAP;
        places[node] = [x + wide * reach * angle.cos(), y + high * reach * angle.sin()];
    }
    places
}

/// What the ship has.
fn gauges(env: &AsteroidProspector, shapes: &mut Vec<Shape>) {
    let AsteroidProspector { ship, tick, .. } = env;
    let time_left = MAX_TICKS.saturating_sub(*tick);
    let levels = [
        ("fuel", ship.fuel, MAX_FUEL, ship.fuel < 200.0),
        ("hull", ship.hull, MAX_LEVEL, ship.hull < 40.0),
        ("tool", ship.tool, MAX_LEVEL, ship.tool < 40.0),
        ("cargo", ship.cargo_total(), MAX_CARGO, false),
        ("heat", ship.heat, MAX_LEVEL, ship.heat > 70.0),
        ("alert", ship.alert, MAX_LEVEL, ship.alert > 50.0),
    ];
    let width = (PANEL.1 - PANEL.0) / 3.0;
    for (index, (name, level, most, is_bad)) in levels.into_iter().enumerate() {
        let x = PANEL.0 + width * (index % 3) as f32;
        let y = 9.35 - 0.75 * (index / 3) as f32;
        let paint = if is_bad { Paint::SceneWarm } else { Paint::SceneLive };
        let end = x + (width - 0.3) * (level / most).clamp(0.0, 1.0) as f32;
        shapes.push(Shape::rectangle([x, y], [x + width - 0.3, y + 0.1], Paint::SceneLine));
        shapes.push(Shape::rectangle([x, y], [end, y + 0.1], paint));
        let text = format!("{name} {level:.0}");
        shapes.push(Shape::text([x + (width - 0.3) / 2.0, y + 0.32], text, TEXT, Paint::SceneText));
    }
    let place = match (ship.is_docked, ship.is_at_station()) {
        (true, _) => "docked".to_owned(),
        (false, true) => "at the station".to_owned(),
        (false, false) => {
            format!("node {}, {} from home", ship.node, env.world.node(ship.node).hops)
        }
    };
    let line = format!("{:.0} credits · {place} · {time_left} ticks left", ship.credits);
    let middle = (PANEL.0 + PANEL.1) / 2.0;
    shapes.push(Shape::text([middle, 8.15], line, TEXT, Paint::SceneText));
    let line =
        format!("kits {} · stabilisers {} · decoys {}", ship.kits, ship.stabilisers, ship.decoys);
    shapes.push(Shape::text([middle, 7.75], line, SMALL, Paint::SceneText));
}

/// The asteroids of the node: how much is left, what they seem to be made of, how well they are
/// known, and whether they seem to hold.
fn asteroids(env: &AsteroidProspector, shapes: &mut Vec<Shape>) {
    const COLUMNS: usize = MAX_ASTEROIDS / 2;
    const RADIUS: f32 = 0.3;
    const BARS: f32 = 0.45;
    let node = env.world.node(env.ship.node);
    let middle = (PANEL.0 + PANEL.1) / 2.0;
    if node.asteroids.iter().all(|asteroid| !asteroid.is_there) {
        let line = if node.kind == NodeKind::Station {
            "no asteroids at the station"
        } else {
            "nothing is left here"
        };
        shapes.push(Shape::text([middle, 5.6], line, TEXT, Paint::SceneText));
        return;
    }
    let width = (PANEL.1 - PANEL.0) / COLUMNS as f32;
    for (slot, asteroid) in node.asteroids.iter().enumerate().filter(|(_, a)| a.is_there) {
        let x = PANEL.0 + width * ((slot % COLUMNS) as f32 + 0.5);
        let y = 6.95 - 1.75 * (slot / COLUMNS) as f32;
        let radius = RADIUS * (1.0 - 0.75 * asteroid.depletion as f32);
        shapes.push(Shape::ring([x, y], RADIUS, Paint::SceneLine, THIN));
        shapes.push(Shape::disc([x, y], radius, Paint::SceneBody));
        if asteroid.stability_estimate < 0.45 {
            let crack = [
                [x - 0.05, y + radius],
                [x + 0.06, y + 0.05],
                [x - 0.06, y - 0.05],
                [x + 0.05, y - radius],
            ];
            shapes.push(Shape::line(crack, Paint::SceneWarm, 2.0 * THIN));
        }
        if !env.mask[SELECT + slot] {
            shapes.push(Shape::ring([x, y], RADIUS + 0.1, Paint::Accent, 0.06));
        }
        shapes.push(Shape::text(
            [x - 0.42, y + 0.28],
            (slot + 1).to_string(),
            0.22,
            Paint::SceneText,
        ));
        // The composition as six bars in the market's order, drawn as one outline.
        let foot = y - RADIUS - 0.14 - BARS;
        let step = 0.8 * width / N_COMMODITIES as f32;
        let left = x - 0.4 * width;
        let mut outline = vec![[left, foot]];
        for (good, &share) in asteroid.composition_estimate.iter().enumerate() {
            let top = foot + BARS * (1.6 * share as f32).min(1.0);
            let from = left + step * good as f32;
            outline.extend([[from, top], [from + step, top]]);
        }
        outline.push([left + step * N_COMMODITIES as f32, foot]);
        shapes.push(Shape::area(outline, Paint::SceneEdge));
        let known = left + 0.8 * width * asteroid.confidence as f32;
        shapes.push(Shape::line(
            [[left, foot - 0.08], [known, foot - 0.08]],
            Paint::SceneLive,
            0.05,
        ));
    }
    let legend = "size: what is left · bars: content · line: how sure · crack: may break";
    shapes.push(Shape::text([middle, 3.62], legend, 0.2, Paint::SceneText));
}

/// Cargo and prices, commodity by commodity.
fn market(env: &AsteroidProspector, shapes: &mut Vec<Shape>) {
    const FOOT: f32 = 0.95;
    const HEIGHT: f32 = 1.8;
    let AsteroidProspector { ship, market, .. } = env;
    let width = (PANEL.1 - PANEL.0) / N_COMMODITIES as f32;
    let most = ship.cargo.iter().copied().fold(10.0, f64::max);
    for good in 0..N_COMMODITIES {
        let x = PANEL.0 + width * good as f32;
        let middle = x + width / 2.0;
        let cargo = HEIGHT * (ship.cargo[good] / most) as f32;
        let price = HEIGHT * (market.price[good] / (2.0 * BASE[good])).min(1.0) as f32;
        let (left, right) = (x + 0.22, x + width - 0.22);
        shapes.push(Shape::rectangle(
            [left, FOOT],
            [middle - 0.08, FOOT + cargo],
            Paint::SceneBody,
        ));
        shapes.push(Shape::rectangle(
            [middle + 0.08, FOOT],
            [right, FOOT + price],
            Paint::SceneLive,
        ));
        // Where the price would be at its base.
        let base = FOOT + HEIGHT / 2.0;
        shapes.push(Shape::line(
            [[middle, base], [x + width - 0.12, base]],
            Paint::SceneWarm,
            THIN,
        ));
        let is_rising = market.price[good] >= market.previous[good];
        let arrow = if is_rising { "+" } else { "−" };
        let numbers = format!("{:.0} | {:.0}{arrow}", ship.cargo[good], market.price[good]);
        shapes.push(Shape::text([middle, FOOT + HEIGHT + 0.25], numbers, SMALL, Paint::SceneText));
        shapes.push(Shape::text([middle, FOOT - 0.22], COMMODITIES[good], SMALL, Paint::SceneText));
    }
    shapes.push(Shape::line([[PANEL.0, FOOT], [PANEL.1, FOOT]], Paint::SceneLine, THIN));
    let legend = "left: units on board · right: price · line: base price";
    shapes.push(Shape::text([(PANEL.0 + PANEL.1) / 2.0, 0.3], legend, 0.2, Paint::SceneText));
}
