use proptest::prelude::*;

use super::*;
use crate::rigid::body::BodySpec;
use crate::rigid::island::BodyState;
use crate::rigid::shape::{Edge, GroundShape, Polygon};
use crate::rigid::{JointSpec, World};

/// A hull on two legs of two parts each, thrown onto random ground.
fn world(rng: &mut fastrand::Rng) -> World {
    let mut world = World::new(vec2(0.0, -10.0));
    let mut between = |low: f32, high: f32| low + (high - low) * rng.f32();
    let mut height = between(0.0, 1.0);
    for index in 0..30 {
        let part = world.add_part();
        let next = height + between(-0.4, 0.4);
        let x = index as f32 * 0.5;
        if index % 7 == 3 {
            let corners = [[x, height], [x + 0.5, height], [x + 0.5, next + 0.6], [x, next + 0.6]];
            let block = Polygon::hull(&corners.map(|[x, y]| vec2(x, y)));
            world.add_piece(part, GroundShape::Polygon(block), 2.5);
        }
        let ends = [vec2(x, height), vec2(x + 0.5, next)];
        world.add_piece(part, GroundShape::Edge(Edge::new(ends)), between(0.0, 3.0));
        height = next;
    }
    let (x, y) = (between(3.0, 12.0), between(3.0, 5.0));
    let hull = Polygon::hull(
        &[[-1.0, 0.3], [0.2, 0.3], [1.1, 0.0], [1.1, -0.3], [-1.0, -0.3]].map(|[x, y]| vec2(x, y)),
    );
    let leg = Polygon::rectangle(0.13, 0.57);
    let add = |world: &mut World, shape, y, angle| {
        world.add_body(&BodySpec {
            position: vec2(x, y),
            angle,
            shape,
            density: 2.0,
            friction: 0.3,
        })
    };
    add(&mut world, &hull, y, 0.0);
    for side in [-1.0, 1.0] {
        let angle = 0.05 * side;
        let upper = add(&mut world, &leg, y - 0.3, angle);
        let lower = add(&mut world, &leg, y - 1.4, angle);
        for (bodies, anchor, limits) in [
            ([0, upper], vec2(0.0, -0.27), [-0.8, 1.1]),
            ([upper, lower], vec2(0.0, -0.57), [-1.6, -0.1]),
        ] {
            world.add_joint(JointSpec {
                bodies,
                anchors: [anchor, vec2(0.0, 0.57)],
                reference_angle: 0.0,
                lower: limits[0],
                upper: limits[1],
                motor_speed: 0.0,
                max_torque: 0.0,
            });
        }
    }
    let spin = between(-3.0, 3.0);
    world.body_mut(0).kick(vec2(spin, -2.0), vec2(x, y + spin));
    world
}

fn drive(world: &mut World, rng: &mut fastrand::Rng) {
    for joint in 0..4 {
        world.drive(joint, [-4.0, 4.0][rng.usize(..2)], 80.0 * rng.f32());
    }
}

/// Everything that the iterations change, as bits.
fn bits(island: &Island) -> Vec<u32> {
    let bodies = island.bodies.iter().flat_map(|body| {
        let BodyState { center, angle, velocity, angular_velocity, .. } = *body;
        [center.x, center.y, angle, velocity.x, velocity.y, angular_velocity]
    });
    let joints = island.joints.iter().flat_map(|joint| {
        [joint.pin_impulse.x, joint.pin_impulse.y, joint.limit_impulse, joint.motor_impulse]
    });
    let points = island.contacts.iter().flat_map(|contact| contact.points);
    let contacts = points.flat_map(|point| [point.normal_impulse, point.tangent_impulse]);
    let numbers = bodies.chain(joints).chain(contacts).map(f32::to_bits);
    numbers.chain([u32::from(island.is_settled)]).collect()
}

/// Does one part with each instruction set, in lanes and one by one.
fn check(
    lanes: &mut LaneIslands,
    islands: &[Island],
    part: Part,
    alone: impl Fn(&mut Island),
) -> Result<(), TestCaseError> {
    for level in Level::available() {
        lanes.clear();
        islands.iter().for_each(|island| lanes.load(island));
        lanes.run(level, part);
        for (lane, island) in islands.iter().enumerate() {
            let (mut together, mut one) = (island.clone(), island.clone());
            lanes.store(lane, &mut together);
            alone(&mut one);
            prop_assert_eq!(bits(&together), bits(&one), "{} {:?} {:?}", lane, level, part);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    /// Steps random worlds with each instruction set and compares every step with one world's.
    #[test]
    fn lanes_equal_one_world(seed: u64, n_worlds in 1..=N_LANES) {
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut worlds: Vec<World> = (0..n_worlds).map(|_| world(&mut rng)).collect();
        let (mut lanes, mut impact_lanes) = (LaneIslands::default(), LaneIslands::default());
        let (mut n_contacts, mut n_impacts) = (0, 0);
        for _ in 0..60 {
            for world in &mut worlds {
                drive(world, &mut rng);
                world.begin_step();
            }
            let mut islands: Vec<Island> =
                worlds.iter_mut().map(|world| world.island().unwrap().clone()).collect();
            check(&mut lanes, &islands, Part::Start, Island::start)?;
            islands.iter_mut().for_each(Island::start);
            check(&mut lanes, &islands, Part::Settle, Island::settle)?;
            n_contacts += islands.iter().map(|island| island.contacts.len()).sum::<usize>();

            for world in &mut worlds {
                world.island().expect("driven worlds are awake").solve();
            }
            loop {
                let next = |world: &mut World| {
                    let impact = world.next_impact()?;
                    let island = impact.island.clone();
                    impact.island.solve_impact();
                    Some(island)
                };
                let islands: Vec<Island> = worlds.iter_mut().filter_map(next).collect();
                if islands.is_empty() {
                    break;
                }
                check(&mut impact_lanes, &islands, Part::Impact, Island::solve_impact)?;
                n_impacts += islands.len();
            }
            worlds.iter_mut().for_each(World::end_step);
        }
        prop_assert!(n_contacts > 0, "the worlds touch the ground");
        prop_assert!(n_worlds < 8 || n_impacts > 0, "some would pass through it");
    }
}
