use std::process::Command;

use cartridge_games::registry::{environments, make_env};
use openh264::decoder::Decoder;
use openh264::formats::YUVSource as _;
use serde_json::{Map, Value};

use super::*;

/// A film of the first steps of an environment.
fn film_of(env_id: &str, n_frames: usize) -> (Vec<u8>, (u32, u32), u32) {
    let mut env = make_env(env_id, &Map::new()).unwrap();
    let spec = env.spec();
    let mut observation = vec![0.0; spec.observation];
    env.reset(Some(1), &mut observation);
    let mut rng = fastrand::Rng::with_seed(1);
    let size = size_for(&env.scene());
    let (_, frames_per_second) = pace(spec.frames_per_second);
    let mut film = Film::new(size, frames_per_second).unwrap();
    for step in 0..n_frames {
        film.add(&captioned(env.scene(), &format!("step {step}"))).unwrap();
        let mut mask = vec![true; spec.actions.size()];
        env.legal_actions(&mut mask);
        let action = spec.actions.sample(&mask, &mut rng);
        if env.step(action.borrow(), &mut observation).is_end() {
            env.reset(None, &mut observation);
        }
    }
    assert_eq!(film.n_frames(), n_frames);
    (film.finish().unwrap(), size, frames_per_second)
}

/// The boxes in a stretch of a file: names and contents.
fn boxes(mut bytes: &[u8]) -> Vec<(String, &[u8])> {
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let length = u32::from_be_bytes(bytes[..4].try_into().unwrap()) as usize;
        let name = String::from_utf8(bytes[4..8].to_vec()).unwrap();
        found.push((name, &bytes[8..length]));
        bytes = &bytes[length..];
    }
    found
}

/// The content of the box at a path of names.
fn at<'a>(bytes: &'a [u8], path: &[&str]) -> &'a [u8] {
    let found = boxes(bytes).into_iter().find(|(name, _)| name == path[0]);
    let (_, inner) = found.unwrap_or_else(|| panic!("no {path:?}"));
    if path.len() == 1 { inner } else { at(inner, &path[1..]) }
}

fn numbers(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|four| u32::from_be_bytes(four.try_into().unwrap())).collect()
}

/// Finds every picture by the table of contents alone, as a player does, and decodes it.
#[track_caller]
fn check(env_id: &str) {
    let n_frames = 70;
    let (file, (width, height), frames_per_second) = film_of(env_id, n_frames);
    let names: Vec<String> = boxes(&file).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["ftyp", "moov", "mdat"], "{env_id}: the table of contents comes first");
    let media = ["moov", "trak", "mdia"];
    let table = [&media[..], &["minf", "stbl"]].concat();
    let inner = |name: &'static str| at(&file, &[&table[..], &[name]].concat());
    let header = numbers(at(&file, &[&media[..], &["mdhd"]].concat()));
    assert_eq!(header[3], frames_per_second * 1000);
    assert_eq!(header[4], n_frames as u32 * 1000);
    let whole = numbers(&inner("stss")[8..]);
    assert!(whole.len() > 1 && whole[0] == 1, "{env_id}: seeking needs whole pictures: {whole:?}");
    let sizes = numbers(&inner("stsz")[12..]);
    assert_eq!(sizes.len(), n_frames);

    let description = &inner("stsd")[16..];
    let config = at(&description[78..], &["avcC"]);
    assert_eq!(config[1], 66, "{env_id}: baseline profile");
    let length = |at: usize| usize::from(u16::from_be_bytes([config[at], config[at + 1]]));
    let sequence = &config[8..8 + length(6)];
    let second = 8 + sequence.len() + 1;
    let picture = &config[second + 2..second + 2 + length(second)];
    const START: [u8; 4] = [0, 0, 0, 1];
    let mut decoder = Decoder::new().unwrap();
    decoder.decode(&[&START[..], sequence, &START, picture].concat()).unwrap();
    let mut place = numbers(&inner("stco")[8..])[0] as usize;
    let mut n_decoded = 0;
    for size in sizes {
        let sample = &file[place..place + size as usize];
        place += size as usize;
        let unit = [&START[..], &sample[4..]].concat();
        if let Some(decoded) = decoder.decode(&unit).unwrap() {
            assert_eq!(decoded.dimensions(), (width as usize, height as usize));
            n_decoded += 1;
        }
    }
    assert_eq!(place, file.len(), "{env_id}: nothing is left over");
    n_decoded += decoder.flush_remaining().unwrap().len();
    assert_eq!(n_decoded, n_frames, "{env_id}");
}

#[test]
fn every_environment_makes_a_film_that_can_be_decoded() {
    for spec in environments() {
        check(spec.id);
    }
}

/// What another program says of it; where that is not installed, our own decoder has to do.
#[test]
fn other_players_agree() {
    let (file, (width, height), frames_per_second) = film_of("LunarLander-v3", 75);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("film.mp4");
    std::fs::write(&path, file).unwrap();
    let asked = Command::new("ffprobe")
        .args(["-v", "error", "-count_frames", "-show_streams", "-show_format", "-of", "json"])
        .arg(&path)
        .output();
    let Ok(said) = asked else { return };
    assert!(said.stderr.is_empty(), "{}", String::from_utf8_lossy(&said.stderr));
    let said: Value = serde_json::from_slice(&said.stdout).unwrap();
    let stream = &said["streams"][0];
    assert_eq!(stream["codec_name"], "h264");
    assert_eq!(stream["pix_fmt"], "yuv420p");
    assert_eq!(stream["nb_read_frames"], "75");
    assert_eq!(stream["width"], width);
    assert_eq!(stream["height"], height);
    assert_eq!(stream["avg_frame_rate"], format!("{frames_per_second}/1"));
    let seconds: f64 = said["format"]["duration"].as_str().unwrap().parse().unwrap();
    assert!((seconds - 75.0 / f64::from(frames_per_second)).abs() < 0.01, "{seconds}");
}

#[test]
fn the_same_scenes_give_the_same_bytes() {
    assert!(film_of("CartPole-v1", 30).0 == film_of("CartPole-v1", 30).0);
}

#[test]
fn colours_survive() {
    let scene = Scene {
        view: [0.0, 0.0, 64.0, 64.0],
        shapes: vec![Shape::rectangle([0.0, 0.0], [64.0, 64.0], Paint::SceneLive)],
    };
    let mut film = Film::new((64, 64), 10).unwrap();
    film.add(&scene).unwrap();
    let track = film.track.unwrap();
    const START: [u8; 4] = [0, 0, 0, 1];
    let sample = &track.samples[0].bytes[4..];
    let stream = [&START[..], &track.sequence, &START, &track.picture, &START, sample].concat();
    let mut decoder = Decoder::new().unwrap();
    let decoded = decoder.decode(&stream).unwrap().unwrap();
    let mut pixels = vec![0; 64 * 64 * 3];
    decoded.write_rgb8(&mut pixels);
    let middle = &pixels[(32 * 64 + 32) * 3..][..3];
    let wanted = crate::colour(Paint::SceneLive).to_color_u8();
    for (got, wanted) in middle.iter().zip([wanted.red(), wanted.green(), wanted.blue()]) {
        assert!(got.abs_diff(wanted) < 8, "{middle:?}");
    }
}

#[test]
fn sizes_and_paces() {
    let scene = |width: f32, height: f32| Scene { view: [0.0, 0.0, width, height], shapes: vec![] };
    for (view, expected) in
        [((600.0, 400.0), (640, 426)), ((1.0, 1.0), (640, 640)), ((1.0, 3.0), (360, 720))]
    {
        let (width, height) = size_for(&scene(view.0, view.1));
        assert_eq!((width, height), expected);
    }
    for (steps, expected) in
        [(50, (2, 25)), (30, (1, 30)), (15, (1, 15)), (60, (2, 30)), (0, (1, 1))]
    {
        assert_eq!(pace(steps), expected);
    }
}

#[test]
fn a_film_without_pictures_is_none() {
    assert!(matches!(Film::new((64, 64), 10).unwrap().finish(), Err(FilmError::Empty)));
}
