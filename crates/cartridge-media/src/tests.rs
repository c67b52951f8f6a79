use cartridge_games::registry::{AnyGame, environments, games, make_env};
use serde_json::Map;

use super::*;

/// The colour of a pixel as red, green and blue.
fn pixel(canvas: &Pixmap, x: u32, y: u32) -> [u8; 3] {
    let pixel = canvas.pixel(x, y).unwrap();
    [pixel.red(), pixel.green(), pixel.blue()]
}

fn rgb(paint: Paint) -> [u8; 3] {
    let colour = colour(paint).to_color_u8();
    [colour.red(), colour.green(), colour.blue()]
}

#[test]
fn shapes_are_where_they_belong() {
    let scene = Scene {
        view: [0.0, 0.0, 10.0, 10.0],
        shapes: vec![
            Shape::rectangle([0.0, 0.0], [5.0, 5.0], Paint::SceneGround),
            Shape::disc([7.5, 7.5], 1.0, Paint::DiscA),
            Shape::line([[0.0, 9.0], [5.0, 9.0]], Paint::SceneWarm, 0.4),
        ],
    };
    // Twice as wide as the view: the view is in the middle.
    let canvas = draw(&scene, 200, 100);
    let at = |x: f32, y: f32| pixel(&canvas, (50.0 + 10.0 * x) as u32, (100.0 - 10.0 * y) as u32);
    assert_eq!(at(2.5, 2.5), rgb(Paint::SceneGround), "y points up");
    assert_eq!(at(7.5, 2.5), rgb(Paint::SceneBg));
    assert_eq!(at(7.5, 7.5), rgb(Paint::DiscA));
    assert_eq!(at(7.5, 8.7), rgb(Paint::SceneBg));
    assert_eq!(at(2.5, 9.0), rgb(Paint::SceneWarm));
    assert_eq!(pixel(&canvas, 10, 90), rgb(Paint::SceneBg), "beside the view");
}

#[test]
fn letters_are_drawn_around_their_middle() {
    let text = |text: &str| {
        let shape = Shape::text([5.0, 5.0], text, 4.0, Paint::SceneText);
        let canvas = draw(&Scene { view: [0.0, 0.0, 10.0, 10.0], shapes: vec![shape] }, 100, 100);
        let is_drawn = |(x, y): &(u32, u32)| pixel(&canvas, *x, *y) != rgb(Paint::SceneBg);
        (0..100).flat_map(|y| (0..100).map(move |x| (x, y))).filter(is_drawn).collect::<Vec<_>>()
    };
    let drawn = text("I");
    let mean = |of: fn(&(u32, u32)) -> u32| {
        drawn.iter().map(|at| f64::from(of(at))).sum::<f64>() / drawn.len() as f64
    };
    let (x, y) = (mean(|at| at.0), mean(|at| at.1));
    assert!((x - 50.0).abs() < 3.0 && (y - 50.0).abs() < 6.0, "{x} {y}");
    assert_eq!(text(" "), []);
    assert!(text("12").len() > drawn.len());
    for sign in "■●▲·×±→".chars() {
        assert!(!text(&sign.to_string()).is_empty(), "{sign}");
    }
}

#[test]
fn every_cartridge_has_a_picture() {
    let mut scenes = Vec::new();
    for spec in environments() {
        let mut env = make_env(spec.id, &Map::new()).unwrap();
        env.reset(Some(1), &mut vec![0.0; spec.observation]);
        scenes.push((spec.id, env.scene()));
    }
    for spec in games() {
        let mut rng = fastrand::Rng::with_seed(1);
        scenes.push((spec.id, AnyGame::start(spec.id, &mut rng).unwrap().scene()));
    }
    for (id, scene) in scenes {
        let height = height_for(&scene, 320);
        let canvas = draw(&scene, 320, height);
        let background = canvas.pixel(0, 0).unwrap();
        let n_drawn = canvas.pixels().iter().filter(|pixel| **pixel != background).count();
        assert!(n_drawn > 200, "{id} has {n_drawn} pixels");
        let file = jpeg(&scene, 320, height);
        assert!(file.starts_with(&[0xff, 0xd8]) && file.ends_with(&[0xff, 0xd9]), "{id}");
        assert_eq!(file, jpeg(&scene, 320, height), "{id}");
    }
}
