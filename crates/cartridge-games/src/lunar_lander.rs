//! Lunar Lander: bring a lander down between two flags, gently and upright.
//!
//! # States
//!
//! | index | what | unit |
//! |---|---|---|
//! | 0, 1 | position from the pad, to the right and up | 10 m, 6.67 m |
//! | 2, 3 | velocity, to the right and up | 5 m/s, 7.5 m/s |
//! | 4 | angle, counter-clockwise | rad |
//! | 5 | angular velocity | 2.5 rad/s |
//! | 6, 7 | whether the right and the left leg touch the ground | 0 or 1 |
//!
//! # Actions
//!
//! 0 does nothing, 1 fires the left engine, 2 the main engine, 3 the right engine. With
//! [`Config::continuous`] there are two numbers in ±1, clipped: the main engine runs above 0, from
//! half to full power; a side engine runs beyond ±0.5, the left one below.
//!
//! # Reward
//!
//! The change of a potential: nearer to the pad, slower and more upright is better, and each leg
//! that touches is worth 10. The main engine costs 0.3 a step, a side engine 0.03. The last step
//! brings −100 for a crash or for leaving to either side, and 100 for coming to rest.
//!
//! # Start
//!
//! At the top in the middle, pushed by a random force, above random ground with a flat pad.
//!
//! # End
//!
//! Terminated when the lander's body touches the ground, when it is 10 m or more from the middle,
//! or when it has come to rest and its physics sleep. Truncated at step 1000.
//!
//! # Version
//!
//! 3: equal to Gymnasium 1.4.0's `LunarLander-v3`, bit for bit.
//!
//! # Source
//!
//! Oleg Klimov's environment in OpenAI Gym, as Gymnasium keeps it; the physics are our
//! [`rigid`](crate::rigid) bodies. What Gymnasium computes in doubles is in doubles here.

mod scene;

use serde::{Deserialize, Serialize};

use crate::controls::{Controls, Effect, Idle, control};
use crate::env::{ActionSpace, Env, EnvAction, EnvSpec, Impact, Island, Mechanism, Step};
use crate::numpy_random::NumpyRng;
use crate::rigid::{BodySpec, Edge, GroundShape, JointSpec, Polygon, Vec2, World, vec2};
use crate::scene::Scene;

/// Facts of the environment.
pub static SPEC: EnvSpec = EnvSpec {
    id: "LunarLander-v3",
    name: "Lunar Lander",
    version: 3,
    observation: 8,
    actions: ActionSpace::Discrete(4),
    max_steps: 1000,
    is_masked: false,
    quit_action: None,
    reward_threshold: Some(200.0),
    frames_per_second: 50,
    action_names: &["coast", "left engine", "main engine", "right engine"],
    observation_names: &[
        "x",
        "y",
        "horizontal velocity",
        "vertical velocity",
        "angle",
        "angular velocity",
        "right leg touches",
        "left leg touches",
    ],
    controls: Some(Controls {
        idle: Idle::Action(0),
        keys: &[
            control(LEFT_KEYS, "turn left", Effect::Action(1)),
            control(UP_KEYS, "main engine", Effect::Action(2)),
            control(RIGHT_KEYS, "turn right", Effect::Action(3)),
        ],
        ending: ENDING,
    }),
};

/// Facts of the environment with [`Config::continuous`].
pub static CONTINUOUS_SPEC: EnvSpec = EnvSpec {
    actions: ActionSpace::Continuous { low: &[-1.0; 2], high: &[1.0; 2] },
    action_names: &["main engine", "side engines"],
    controls: Some(Controls {
        idle: Idle::Zero,
        keys: &[
            control(LEFT_KEYS, "turn left", Effect::Add { index: 1, value: -1.0 }),
            control(UP_KEYS, "main engine", Effect::Add { index: 0, value: 1.0 }),
            control(RIGHT_KEYS, "turn right", Effect::Add { index: 1, value: 1.0 }),
        ],
        ending: ENDING,
    }),
    ..SPEC
};

// The engine on the left turns the lander to the left.
const LEFT_KEYS: &[&str] = &["ArrowLeft", "a"];
const UP_KEYS: &[&str] = &["ArrowUp", "w"];
const RIGHT_KEYS: &[&str] = &["ArrowRight", "d"];
const ENDING: &str = "the lander came to rest, crashed or flew away";

/// Options of the environment, under Gymnasium's names.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Throttles instead of four actions.
    pub continuous: bool,
    /// Gravity, in m/s²: above −12 and below 0.
    pub gravity: f64,
    /// Whether wind blows until a leg touches.
    pub enable_wind: bool,
    /// The largest force of the wind, in N; 0 to 20 is recommended.
    pub wind_power: f64,
    /// The largest torque of the wind, in N m; 0 to 2 is recommended.
    pub turbulence_power: f64,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            continuous: false,
            gravity: -10.0,
            enable_wind: false,
            wind_power: 15.0,
            turbulence_power: 1.5,
        }
    }
}

impl Config {
    /// The names of the options.
    pub const OPTIONS: &'static [&'static str] =
        &["continuous", "gravity", "enable_wind", "wind_power", "turbulence_power"];

    /// What is wrong with the values, if anything is.
    pub fn check(&self) -> Result<(), String> {
        let Self { gravity, wind_power, turbulence_power, .. } = *self;
        if !(-12.0 < gravity && gravity < 0.0) {
            return Err(format!("`gravity` is {gravity}, but must be above -12 and below 0"));
        }
        if !wind_power.is_finite() || !turbulence_power.is_finite() {
            return Err("`wind_power` and `turbulence_power` must be finite".to_owned());
        }
        Ok(())
    }
}

/// A lander above the moon.
#[derive(Clone, Debug)]
pub struct LunarLander {
    config: Config,
    rng: NumpyRng,
    world: World,
    terrain: [[f64; 2]; N_CHUNKS],
    /// How far the wind and its torque have come on their curves.
    wind: Option<[i64; 2]>,
    is_leg_down: [bool; 2],
    is_crashed: bool,
    potential: Option<f64>,
    engines: Engines,
    n_steps: u32,
    is_over: bool,
}

/// The power of the engines in the last step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Engines {
    /// From 0 to 1.
    main: f64,
    /// From 0 to 1.
    side: f64,
    /// −1 when the left engine fires, 1 when the right one does.
    direction: f64,
}

const FRAMES_PER_SECOND: f64 = 50.0;
/// Pixels per m in Gymnasium, where shapes are given in pixels.
const SCALE: f64 = 30.0;
/// m.
const WIDTH: f64 = 600.0 / SCALE;
/// m.
const HEIGHT: f64 = 400.0 / SCALE;
const PAD_HEIGHT: f64 = HEIGHT / 4.0;
const N_CHUNKS: usize = 11;
const MAIN_ENGINE_POWER: f64 = 13.0;
const SIDE_ENGINE_POWER: f64 = 0.6;
/// N.
const START_FORCE: f64 = 1000.0;
/// Pixels, counter-clockwise from the upper left.
const LANDER: [[f64; 2]; 6] =
    [[-14.0, 17.0], [-17.0, 0.0], [-17.0, -10.0], [17.0, -10.0], [17.0, 0.0], [14.0, 17.0]];
const LEG_AWAY: f64 = 20.0;
const LEG_DOWN: f64 = 18.0;
const LEG_WIDTH: f64 = 2.0;
const LEG_HEIGHT: f64 = 8.0;
/// N m.
const LEG_TORQUE: f32 = 40.0;
const SIDE_ENGINE_HEIGHT: f64 = 14.0;
const SIDE_ENGINE_AWAY: f64 = 12.0;
const MAIN_ENGINE_Y: f64 = 4.0;

/// Numbers of the bodies; the legs are 1, the right one, and 2.
const HULL: usize = 0;
const LEGS: [usize; 2] = [1, 2];

impl LunarLander {
    /// An environment that waits for its first reset.
    ///
    /// # Panics
    ///
    /// If [`Config::check`] finds something wrong.
    pub fn new(config: Config) -> Self {
        config.check().expect("options were checked");
        Self {
            config,
            rng: NumpyRng::new(0),
            world: World::new(vec2(0.0, config.gravity as f32)),
            terrain: [[0.0; 2]; N_CHUNKS],
            wind: None,
            is_leg_down: [false; 2],
            is_crashed: false,
            potential: None,
            engines: Engines::default(),
            n_steps: 0,
            is_over: true,
        }
    }

    /// Draws the terrain and builds the world: ground, lander and legs.
    fn build(&mut self) {
        let heights = [(); N_CHUNKS + 1].map(|()| self.rng.uniform(0.0, HEIGHT / 2.0));
        self.terrain = terrain(heights);
        self.world.clear();
        let moon = self.world.add_part();
        let base = [vec2(0.0, 0.0), point([WIDTH, 0.0])];
        self.world.add_piece(moon, GroundShape::Edge(Edge::new(base)), 0.2);
        for pair in self.terrain.windows(2) {
            let ends = [point(pair[0]), point(pair[1])];
            self.world.add_piece(moon, GroundShape::Edge(Edge::new(ends)), 0.1);
        }

        let start = [WIDTH / 2.0, HEIGHT];
        let lander = Polygon::hull(&LANDER.map(|[x, y]| point([x / SCALE, y / SCALE])));
        self.world.add_body(&BodySpec {
            position: point(start),
            angle: 0.0,
            shape: &lander,
            density: 5.0,
            friction: 0.1,
        });
        let force = [(); 2].map(|()| self.rng.uniform(-START_FORCE, START_FORCE));
        self.world.body_mut(HULL).push(point(force));
        self.wind =
            self.config.enable_wind.then(|| [(); 2].map(|()| self.rng.integers(-9999, 9999)));

        let leg = Polygon::rectangle((LEG_WIDTH / SCALE) as f32, (LEG_HEIGHT / SCALE) as f32);
        for (side, number) in [-1.0, 1.0].into_iter().zip(LEGS) {
            let angle = (side * 0.05) as f32;
            self.world.add_body(&BodySpec {
                position: point([start[0] - side * LEG_AWAY / SCALE, start[1]]),
                angle,
                shape: &leg,
                density: 1.0,
                friction: 0.2,
            });
            let (lower, upper) = if side < 0.0 { (0.9 - 0.5, 0.9) } else { (-0.9, -0.9 + 0.5) };
            self.world.add_joint(JointSpec {
                bodies: [HULL, number],
                anchors: [Vec2::ZERO, point([side * LEG_AWAY / SCALE, LEG_DOWN / SCALE])],
                reference_angle: angle,
                lower: lower as f32,
                upper: upper as f32,
                motor_speed: (0.3 * side) as f32,
                max_torque: LEG_TORQUE,
            });
        }
    }

    /// Lets the wind blow and the engines push.
    fn act(&mut self, action: Option<EnvAction<'_>>) {
        if !self.is_leg_down.contains(&true) {
            self.blow();
        }
        let hull = self.world.body(HULL);
        let angle = f64::from(hull.angle());
        let position = [hull.position().x, hull.position().y].map(f64::from);
        let tip = [angle.sin(), angle.cos()];
        let side = [-tip[1], tip[0]];
        let dispersion = [(); 2].map(|()| self.rng.uniform(-1.0, 1.0) / SCALE);
        let engines = action.map_or(Engines::default(), |action| self.engines(action));
        self.engines = engines;

        if engines.main > 0.0 {
            let down = MAIN_ENGINE_Y / SCALE + 2.0 * dispersion[0];
            let ox = tip[0] * down + side[0] * dispersion[1];
            let oy = -tip[1] * down - side[1] * dispersion[1];
            let impulse = [ox, oy].map(|x| -x * MAIN_ENGINE_POWER * engines.main);
            let at = [position[0] + ox, position[1] + oy];
            self.world.body_mut(HULL).kick(point(impulse), point(at));
        }
        if engines.side > 0.0 {
            let away = 3.0 * dispersion[1] + engines.direction * SIDE_ENGINE_AWAY / SCALE;
            let ox = tip[0] * dispersion[0] + side[0] * away;
            let oy = -tip[1] * dispersion[0] - side[1] * away;
            let impulse = [ox, oy].map(|x| -x * SIDE_ENGINE_POWER * engines.side);
            // Gymnasium has 17 here where the height of the engines is 14.
            let at = [
                position[0] + ox - tip[0] * 17.0 / SCALE,
                position[1] + oy + tip[1] * SIDE_ENGINE_HEIGHT / SCALE,
            ];
            self.world.body_mut(HULL).kick(point(impulse), point(at));
        }
    }

    fn engines(&self, action: EnvAction<'_>) -> Engines {
        if !self.config.continuous {
            return match action.index() {
                0 => Engines::default(),
                1 => Engines { side: 1.0, direction: -1.0, ..Engines::default() },
                2 => Engines { main: 1.0, ..Engines::default() },
                3 => Engines { side: 1.0, direction: 1.0, ..Engines::default() },
                other => panic!("action {other} is not 0, 1, 2 or 3"),
            };
        }
        let numbers: [f32; 2] = action.numbers().try_into().expect("two numbers");
        let [main, side] = numbers.map(|x| f64::from(x.clamp(-1.0, 1.0)));
        let mut engines = Engines::default();
        if main > 0.0 {
            engines.main = (main.clamp(0.0, 1.0) + 1.0) * 0.5;
        }
        if side.abs() > 0.5 {
            engines.side = side.abs().clamp(0.5, 1.0);
            engines.direction = side.signum();
        }
        engines
    }

    fn blow(&mut self) {
        let Some(places) = &mut self.wind else { return };
        let strength = places.map(|place| {
            let place = place as f64;
            ((0.02 * place).sin() + (std::f64::consts::PI * 0.01 * place).sin()).tanh()
        });
        places.iter_mut().for_each(|place| *place += 1);
        let hull = self.world.body_mut(HULL);
        hull.push(vec2((strength[0] * self.config.wind_power) as f32, 0.0));
        hull.twist((strength[1] * self.config.turbulence_power) as f32);
    }

    /// Sees what the world has done.
    fn observe(&mut self, observation: &mut [f32]) -> Step {
        for touch in self.world.touches() {
            match touch.body {
                HULL => self.is_crashed |= touch.is_begin,
                leg => self.is_leg_down[leg - LEGS[0]] = touch.is_begin,
            }
        }
        let hull = self.world.body(HULL);
        let (position, velocity) = (hull.position(), hull.velocity());
        let state = [
            (f64::from(position.x) - WIDTH / 2.0) / (WIDTH / 2.0),
            (f64::from(position.y) - (PAD_HEIGHT + LEG_DOWN / SCALE)) / (HEIGHT / 2.0),
            f64::from(velocity.x) * (WIDTH / 2.0) / FRAMES_PER_SECOND,
            f64::from(velocity.y) * (HEIGHT / 2.0) / FRAMES_PER_SECOND,
            f64::from(hull.angle()),
            20.0 * f64::from(hull.angular_velocity()) / FRAMES_PER_SECOND,
            f64::from(u8::from(self.is_leg_down[0])),
            f64::from(u8::from(self.is_leg_down[1])),
        ];
        observation.copy_from_slice(&state.map(|x| x as f32));

        let potential = potential(state);
        let mut reward = self.potential.map_or(0.0, |before| potential - before);
        self.potential = Some(potential);
        reward -= self.engines.main * 0.30;
        reward -= self.engines.side * 0.03;
        let mut terminated = false;
        if self.is_crashed || state[0].abs() >= 1.0 {
            terminated = true;
            reward = -100.0;
        }
        if !hull.is_awake() {
            terminated = true;
            reward = 100.0;
        }
        self.n_steps += 1;
        let truncated = self.n_steps == SPEC.max_steps;
        self.is_over = terminated || truncated;
        Step { reward, terminated, truncated, ticks: 1, is_invalid: false }
    }
}

impl Env for LunarLander {
    fn spec(&self) -> &'static EnvSpec {
        if self.config.continuous { &CONTINUOUS_SPEC } else { &SPEC }
    }

    fn reset(&mut self, seed: Option<u64>, observation: &mut [f32]) {
        if let Some(seed) = seed {
            self.rng = NumpyRng::new(seed);
        }
        self.is_leg_down = [false; 2];
        self.is_crashed = false;
        self.potential = None;
        self.build();
        // What is seen first is what is seen after one step without engines.
        self.act(None);
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

impl Mechanism for LunarLander {
    fn begin_step(&mut self, action: EnvAction<'_>) {
        assert!(!self.is_over, "the episode has ended; reset first");
        self.act(Some(action));
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

/// Smooth ground with a flat pad in the middle, from random heights; the last belongs to none.
fn terrain(mut heights: [f64; N_CHUNKS + 1]) -> [[f64; 2]; N_CHUNKS] {
    heights[N_CHUNKS / 2 - 2..=N_CHUNKS / 2 + 2].fill(PAD_HEIGHT);
    std::array::from_fn(|index| {
        // As in Gymnasium, the height before the first is the last.
        let before = heights[index.checked_sub(1).unwrap_or(N_CHUNKS)];
        let x = WIDTH / (N_CHUNKS as f64 - 1.0) * index as f64;
        [x, 0.33 * (before + heights[index] + heights[index + 1])]
    })
}

/// How good a state is; the reward of a step is how much better it has become.
fn potential(state: [f64; 8]) -> f64 {
    let [x, y, vx, vy, angle, _, right, left] = state;
    -100.0 * (x * x + y * y).sqrt() - 100.0 * (vx * vx + vy * vy).sqrt() - 100.0 * angle.abs()
        + 10.0 * right
        + 10.0 * left
}

/// Rounds to the physics' precision.
fn point([x, y]: [f64; 2]) -> Vec2 {
    vec2(x as f32, y as f32)
}

#[cfg(test)]
mod tests;
