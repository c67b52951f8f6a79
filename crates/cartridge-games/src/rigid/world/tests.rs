use super::*;
use crate::rigid::math::vec2;
use crate::rigid::shape::Edge;

fn floor(world: &mut World) {
    let part = world.add_part();
    let ends = [vec2(-50.0, 0.0), vec2(50.0, 0.0)];
    world.add_piece(part, GroundShape::Edge(Edge { ends }), 0.5);
}

fn body(world: &mut World, x: f32, y: f32) -> usize {
    let shape = Polygon::rectangle(0.5, 0.5);
    let position = vec2(x, y);
    world.add_body(&BodySpec { position, angle: 0.0, shape: &shape, density: 1.0, friction: 0.5 })
}

fn joint(world: &mut World, bodies: [usize; 2], anchors: [Vec2; 2], max_torque: f32) -> usize {
    world.add_joint(JointSpec {
        bodies,
        anchors,
        reference_angle: 0.0,
        lower: -1.0,
        upper: 1.0,
        motor_speed: 2.0,
        max_torque,
    })
}

#[test]
fn a_box_falls_lands_and_sleeps() {
    let mut world = World::new(vec2(0.0, -10.0));
    floor(&mut world);
    body(&mut world, 0.0, 2.0);
    world.step();
    assert_eq!(world.body(0).velocity().y, 0.02 * -10.0);
    let mut touches = Vec::new();
    for _ in 0..200 {
        world.step();
        touches.extend_from_slice(world.touches());
    }
    assert_eq!(touches, [Touch { body: 0, is_begin: true }]);
    // It rests on its skin, less the overlap that is left alone.
    assert!((world.body(0).position().y - 0.515).abs() < 2e-3, "{:?}", world.body(0).position());
    assert!(!world.body(0).is_awake());
    world.body_mut(0).kick(vec2(0.0, 5.0), vec2(0.0, 0.5));
    assert!(world.body(0).is_awake());
}

#[test]
fn a_fast_box_does_not_pass_the_floor() {
    let mut world = World::new(vec2(0.0, -10.0));
    floor(&mut world);
    let number = body(&mut world, 0.0, 2.2);
    let shot = world.body(number).position();
    world.body_mut(number).kick(vec2(3.0, -80.0), shot);
    for _ in 0..20 {
        world.step();
        assert!(world.body(number).position().y > 0.45, "{:?}", world.body(number).position());
    }
}

#[test]
fn a_joint_holds_turns_and_stops_at_its_limit() {
    let mut world = World::new(Vec2::ZERO);
    let bodies = [body(&mut world, 0.0, 5.0), body(&mut world, 1.0, 5.0)];
    let anchors = [vec2(0.5, 0.0), vec2(-0.5, 0.0)];
    let pin = joint(&mut world, bodies, anchors, 100.0);
    for _ in 0..100 {
        world.step();
        let [a, b] = [0, 1].map(|end| world.body(bodies[end]).frame().apply(anchors[end]));
        assert!((a - b).length() < 0.01, "the pin holds");
    }
    let (angle, speed) = world.joint_state(pin);
    assert!((angle - 1.0).abs() < 0.05 && speed.abs() < 1e-3, "{angle} {speed}");
}

#[test]
fn joints_are_solved_from_the_newest_body() {
    let mut world = World::new(Vec2::ZERO);
    for x in 0..5 {
        body(&mut world, x as f32, 0.0);
    }
    // As in the walker: hull 0, legs 1 and 3, feet 2 and 4.
    for bodies in [[0, 1], [1, 2], [0, 3], [3, 4]] {
        joint(&mut world, bodies, [Vec2::ZERO; 2], 0.0);
    }
    assert_eq!(world.joint_order, [3, 2, 0, 1]);
    assert_eq!(world.body_order, [4, 3, 0, 1, 2]);
}

#[test]
fn a_cleared_world_numbers_its_leaves_anew() {
    let mut world = World::new(vec2(0.0, -10.0));
    let build = |world: &mut World| {
        for x in 0..6 {
            let part = world.add_part();
            let ends = [vec2(x as f32, 0.0), vec2(x as f32 + 1.0, 0.0)];
            world.add_piece(part, GroundShape::Edge(Edge { ends }), 0.5);
        }
        body(world, 0.0, 2.0);
        world.ground.iter().map(|piece| piece.leaf).collect::<Vec<_>>()
    };
    let first = build(&mut world);
    world.clear();
    let second = build(&mut world);
    assert_eq!(first, [0, 1, 3, 5, 7, 9]);
    assert_ne!(first, second, "the free list is in another order");
    assert_eq!(world.tree.bounds(world.bodies[0].leaf).low.x, -0.5 - 0.01 - 0.1);
}
