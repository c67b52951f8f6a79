//! Bipedal Walker: walk on two legs as far as the ground goes.
//!
//! # States
//!
//! | index | what | unit |
//! |---|---|---|
//! | 0, 1 | angle of the hull and its speed | rad, 25 rad/s |
//! | 2, 3 | velocity of the hull, to the right and up | 8.33 m/s, 12.5 m/s |
//! | 4, 5 | angle and speed of the first hip | rad, 4 rad/s |
//! | 6, 7 | angle, plus one, and speed of the first knee | rad, 6 rad/s |
//! | 8 | whether the first foot touches the ground | 0 or 1 |
//! | 9–13 | the same of the second leg | |
//! | 14–23 | how far the ground is along ten rays, from straight down to nearly ahead | 5.33 m |
//!
//! # Actions
//!
//! Four numbers: first hip, first knee, second hip, second knee. The sign is the direction in
//! which the motor turns, the size, clipped to one, the part of 80 N m that it may use.
//!
//! # Reward
//!
//! 4.33 for each metre ahead, less 5 for each radian that the hull leans farther from the level,
//! less 0.028 for each motor at full torque. Falling brings −100 instead. As in Gymnasium, the
//! sum is rounded to `f32`.
//!
//! # Start
//!
//! Standing at the left end, pushed sideways by a random force.
//!
//! # End
//!
//! Terminated when the hull touches the ground, when it is left of the beginning, or when the
//! walker has come to the end. Truncated at step 1600, on hardcore ground at 2000.
//!
//! # Ground
//!
//! Slightly uneven; on hardcore ground there are stumps, stairs and pits too.
//!
//! # Worlds
//!
//! Gymnasium's walker keeps its physics world from one episode to the next. It is emptied, but the
//! order in which it hands out numbers to new things depends on all that was there before, and
//! with it, at times, the last bit of a number. So in a kept world an episode is not its seed and
//! its actions alone. Here every reset begins a new world, as the first reset of a new environment
//! does in Gymnasium; [`Config::keep_world`] does as Gymnasium does.
//!
//! # Version
//!
//! 3: equal to Gymnasium 1.4.0's `BipedalWalker-v3` and `BipedalWalkerHardcore-v3`, bit for bit.
//!
//! # Source
//!
//! Oleg Klimov's environment in OpenAI Gym, as Gymnasium keeps it; the physics are our
//! [`rigid`](crate::rigid) bodies. What Gymnasium computes in doubles is in doubles here.

mod scene;
mod terrain;

use serde::{Deserialize, Serialize};

use self::terrain::Terrain;
use crate::controls::{Controls, Effect, Idle, control};
use crate::env::{ActionSpace, Env, EnvAction, EnvSpec, Impact, Island, Mechanism, Step};
use crate::numpy_random::NumpyRng;
use crate::rigid::{BodySpec, JointSpec, Polygon, Vec2, World, vec2};
use crate::scene::Scene;

/// Facts of the environment.
pub static SPEC: EnvSpec = EnvSpec {
    id: "BipedalWalker-v3",
    name: "Bipedal Walker",
    version: 3,
    observation: 24,
    actions: ActionSpace::Continuous { low: &[-1.0; 4], high: &[1.0; 4] },
    max_steps: 1600,
    is_masked: false,
    quit_action: None,
    reward_threshold: Some(300.0),
    frames_per_second: 50,
    action_names: &["first hip", "first knee", "second hip", "second knee"],
    observation_names: &[
        "hull angle",
        "hull angular velocity",
        "horizontal velocity",
        "vertical velocity",
        "first hip angle",
        "first hip speed",
        "first knee angle",
        "first knee speed",
        "first foot touches",
        "second hip angle",
        "second hip speed",
        "second knee angle",
        "second knee speed",
        "second foot touches",
        "ray 0",
        "ray 1",
        "ray 2",
        "ray 3",
        "ray 4",
        "ray 5",
        "ray 6",
        "ray 7",
        "ray 8",
        "ray 9",
    ],
    // A column of the keyboard per joint, a hand per leg.
    controls: Some(Controls {
        idle: Idle::Zero,
        keys: &[
            control(&["q"], "first hip forward", Effect::Add { index: 0, value: 1.0 }),
            control(&["a"], "first hip back", Effect::Add { index: 0, value: -1.0 }),
            control(&["w"], "first knee straight", Effect::Add { index: 1, value: 1.0 }),
            control(&["s"], "first knee bent", Effect::Add { index: 1, value: -1.0 }),
            control(&["i"], "second hip forward", Effect::Add { index: 2, value: 1.0 }),
            control(&["k"], "second hip back", Effect::Add { index: 2, value: -1.0 }),
            control(&["o"], "second knee straight", Effect::Add { index: 3, value: 1.0 }),
            control(&["l"], "second knee bent", Effect::Add { index: 3, value: -1.0 }),
        ],
        ending: "the walker fell, or came to the end",
    }),
};

/// Facts of the environment on hardcore ground.
pub static HARDCORE_SPEC: EnvSpec = EnvSpec {
    id: "BipedalWalkerHardcore-v3",
    name: "Bipedal Walker Hardcore",
    max_steps: 2000,
    ..SPEC
};

/// Options of the environment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Keep the world from one reset to the next, as a Gymnasium environment that is used again.
    pub keep_world: bool,
}

impl Config {
    /// The names of the options.
    pub const OPTIONS: &'static [&'static str] = &["keep_world"];
}

/// A hull on two legs.
#[derive(Clone, Debug)]
pub struct BipedalWalker {
    spec: &'static EnvSpec,
    rng: NumpyRng,
    world: World,
    action: [f32; 4],
    terrain: Terrain,
    is_foot_down: [bool; 2],
    is_fallen: bool,
    potential: Option<f64>,
    /// From the hull to the end of each ray, to the right and down, in m.
    rays: [[f64; 2]; N_RAYS],
    /// The part of each ray that is free.
    lidar: [f32; N_RAYS],
    n_steps: u32,
    is_over: bool,
}

/// m/s².
const GRAVITY: Vec2 = vec2(0.0, -10.0);
const FRAMES_PER_SECOND: f64 = 50.0;
/// Pixels per m in Gymnasium, where shapes are given in pixels.
const SCALE: f64 = 30.0;
/// m.
const WIDTH: f64 = 600.0 / SCALE;
/// m.
const HEIGHT: f64 = 400.0 / SCALE;
/// N m.
const MAX_TORQUE: f32 = 80.0;
/// Reward of a motor at full torque.
const TORQUE_COST: f32 = (0.00035 * 80.0) as f32;
/// rad/s, of a hip and of a knee.
const SPEEDS: [f32; 2] = [4.0, 6.0];
const N_RAYS: usize = 10;
/// m.
const RAY_LENGTH: f64 = 160.0 / SCALE;
/// N.
const START_FORCE: f64 = 5.0;
/// Pixels.
const HULL_SHAPE: [[f64; 2]; 5] =
    [[-30.0, 9.0], [6.0, 9.0], [34.0, 1.0], [34.0, -8.0], [-30.0, -8.0]];
/// m, from the hull's middle to the hips.
const HIP: f64 = -8.0 / SCALE;
/// m.
const LEG_WIDTH: f64 = 8.0 / SCALE;
/// m, of the upper and of the lower part of a leg.
const LEG_HEIGHT: f64 = 34.0 / SCALE;

/// Numbers of the bodies: the hull, then upper and lower part of each leg.
const HULL: usize = 0;
const FEET: [usize; 2] = [2, 4];

impl BipedalWalker {
    /// An environment on slightly uneven ground that waits for its first reset.
    pub fn new(config: Config) -> Self {
        Self::with_spec(&SPEC, config)
    }

    /// An environment on hardcore ground that waits for its first reset.
    pub fn hardcore(config: Config) -> Self {
        Self::with_spec(&HARDCORE_SPEC, config)
    }

    fn with_spec(spec: &'static EnvSpec, config: Config) -> Self {
        Self {
            spec,
            rng: NumpyRng::new(0),
            world: if config.keep_world { World::kept(GRAVITY) } else { World::new(GRAVITY) },
            action: [0.0; 4],
            terrain: Terrain::default(),
            is_foot_down: [false; 2],
            is_fallen: false,
            potential: None,
            rays: std::array::from_fn(|ray| {
                let angle = 1.5 * ray as f64 / 10.0;
                [angle.sin() * RAY_LENGTH, angle.cos() * RAY_LENGTH]
            }),
            lidar: [1.0; N_RAYS],
            n_steps: 0,
            is_over: true,
        }
    }

    fn is_hardcore(&self) -> bool {
        self.spec.id == HARDCORE_SPEC.id
    }

    /// Draws the terrain and builds the world: ground, hull and legs.
    fn build(&mut self) {
        self.world.clear();
        let is_hardcore = self.is_hardcore();
        self.terrain.draw(&mut self.rng, is_hardcore);
        self.terrain.build(&mut self.world);

        let start = [terrain::STEP * terrain::START_PAD as f64 / 2.0, START_Y];
        let hull = Polygon::hull(&HULL_SHAPE.map(|[x, y]| point([x / SCALE, y / SCALE])));
        self.world.add_body(&BodySpec {
            position: point(start),
            angle: 0.0,
            shape: &hull,
            density: 5.0,
            friction: 0.1,
        });
        let force = self.rng.uniform(-START_FORCE, START_FORCE);
        self.world.body_mut(HULL).push(point([force, 0.0]));

        let half_height = (LEG_HEIGHT / 2.0) as f32;
        let upper = Polygon::rectangle((LEG_WIDTH / 2.0) as f32, half_height);
        let lower = Polygon::rectangle((0.8 * LEG_WIDTH / 2.0) as f32, half_height);
        for (side, foot) in [-1.0, 1.0].into_iter().zip(FEET) {
            let angle = (side * 0.05) as f32;
            let leg = |shape, y| BodySpec {
                position: point([start[0], y]),
                angle,
                shape,
                density: 1.0,
                friction: 0.2,
            };
            let knee_anchors = [point([0.0, -LEG_HEIGHT / 2.0]), point([0.0, LEG_HEIGHT / 2.0])];
            self.world.add_body(&leg(&upper, start[1] - LEG_HEIGHT / 2.0 - HIP));
            self.world.add_joint(JointSpec {
                bodies: [HULL, foot - 1],
                anchors: [point([0.0, HIP]), knee_anchors[1]],
                reference_angle: angle,
                lower: -0.8,
                upper: 1.1,
                motor_speed: 0.0,
                max_torque: 0.0,
            });
            self.world.add_body(&leg(&lower, start[1] - LEG_HEIGHT * 3.0 / 2.0 - HIP));
            self.world.add_joint(JointSpec {
                bodies: [foot - 1, foot],
                anchors: knee_anchors,
                reference_angle: 0.0,
                lower: -1.6,
                upper: -0.1,
                motor_speed: 0.0,
                max_torque: 0.0,
            });
        }
    }

    /// Drives the motors.
    fn act(&mut self, action: [f32; 4]) {
        self.action = action;
        for (joint, number) in action.into_iter().enumerate() {
            let direction = if number == 0.0 { 0.0 } else { number.signum() };
            let torque = MAX_TORQUE * number.abs().clamp(0.0, 1.0);
            self.world.drive(joint, SPEEDS[joint % 2] * direction, torque);
        }
    }

    /// Sees what the world has done.
    fn observe(&mut self, observation: &mut [f32]) -> Step {
        for touch in self.world.touches() {
            match touch.body {
                HULL => self.is_fallen |= touch.is_begin,
                2 => self.is_foot_down[0] = touch.is_begin,
                4 => self.is_foot_down[1] = touch.is_begin,
                _ => {}
            }
        }
        self.look();
        let hull = self.world.body(HULL);
        let (position, velocity) = (hull.position(), hull.velocity());
        let angle = f64::from(hull.angle());
        let body = [
            angle,
            2.0 * f64::from(hull.angular_velocity()) / FRAMES_PER_SECOND,
            0.3 * f64::from(velocity.x) * WIDTH / FRAMES_PER_SECOND,
            0.3 * f64::from(velocity.y) * HEIGHT / FRAMES_PER_SECOND,
        ];
        observation[..4].copy_from_slice(&body.map(|x| x as f32));
        for leg in 0..2 {
            let [hip, knee] = [2 * leg, 2 * leg + 1].map(|joint| {
                let (angle, speed) = self.world.joint_state(joint);
                (f64::from(angle), f64::from(speed) / f64::from(SPEEDS[joint % 2]))
            });
            let touches = f64::from(u8::from(self.is_foot_down[leg]));
            let seen = [hip.0, hip.1, knee.0 + 1.0, knee.1, touches];
            observation[4 + 5 * leg..][..5].copy_from_slice(&seen.map(|x| x as f32));
        }
        observation[14..].copy_from_slice(&self.lidar);

        let x = f64::from(position.x);
        let potential = 130.0 * x / SCALE - 5.0 * angle.abs();
        let mut reward = self.potential.map_or(0.0, |before| potential - before) as f32;
        self.potential = Some(potential);
        for number in self.action {
            reward -= TORQUE_COST * number.abs().clamp(0.0, 1.0);
        }
        let mut terminated = false;
        if self.is_fallen || x < 0.0 {
            terminated = true;
            reward = -100.0;
        }
        if x > terrain::END {
            terminated = true;
        }
        self.n_steps += 1;
        let truncated = self.n_steps == self.spec.max_steps;
        self.is_over = terminated || truncated;
        Step { reward: f64::from(reward), terminated, truncated, ticks: 1, is_invalid: false }
    }

    /// Measures how far the ground is along the rays.
    fn look(&mut self) {
        let from = self.world.body(HULL).position();
        self.lidar = self.world.cast(from, self.ray_ends());
    }

    fn ray_ends(&self) -> [Vec2; N_RAYS] {
        let from = self.world.body(HULL).position();
        self.rays.map(|[x, y]| point([f64::from(from.x) + x, f64::from(from.y) - y]))
    }
}

/// m.
const START_Y: f64 = terrain::HEIGHT + 2.0 * LEG_HEIGHT;

impl Env for BipedalWalker {
    fn spec(&self) -> &'static EnvSpec {
        self.spec
    }

    fn reset(&mut self, seed: Option<u64>, observation: &mut [f32]) {
        if let Some(seed) = seed {
            self.rng = NumpyRng::new(seed);
        }
        self.is_foot_down = [false; 2];
        self.is_fallen = false;
        self.potential = None;
        self.build();
        // What is seen first is what is seen after one step without torque.
        self.act([0.0; 4]);
        self.world.step();
        self.observe(observation);
        self.n_steps = 0;
        self.is_over = false;
    }

    fn step(&mut self, action: EnvAction<'_>, observation: &mut [f32]) -> Step {
        self.step_alone(action, observation)
    }

    fn mechanism(&mut self) -> Option<&mut dyn Mechanism> {
        Some(self)
    }

    fn scene(&self) -> Scene {
        scene::draw(self)
    }
}

impl Mechanism for BipedalWalker {
    fn begin_step(&mut self, action: EnvAction<'_>) {
        assert!(!self.is_over, "the episode has ended; reset first");
        self.act(action.numbers().try_into().expect("four numbers"));
        self.world.begin_step();
    }

    fn island(&mut self) -> Option<&mut Island> {
        self.world.island()
    }

    fn next_impact(&mut self) -> Option<&mut Impact> {
        self.world.next_impact()
    }

    fn impact(&mut self) -> &mut Impact {
        self.world.impact()
    }

    fn end_step(&mut self, observation: &mut [f32]) -> Step {
        self.world.end_step();
        self.observe(observation)
    }
}

/// Rounds to the physics' precision.
fn point([x, y]: [f64; 2]) -> Vec2 {
    vec2(x as f32, y as f32)
}

#[cfg(test)]
mod tests;
