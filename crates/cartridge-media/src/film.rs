//! Scenes one after the other, as an MP4 file that every browser plays.
//!
//! The pictures are H.264 in its baseline profile with colours at half resolution (4:2:0),
//! encoded by Cisco's OpenH264, which is built into the program; what is around them is written by
//! [`mp4`]. The quality is constant and not the size: scenes are flat, and a minute of Cart Pole
//! takes less than a megabyte.

mod mp4;

use cartridge_games::scene::{Paint, Scene, Shape};
use openh264::OpenH264API;
use openh264::encoder::{
    Complexity, Encoder, EncoderConfig, FrameRate, IntraFramePeriod, Profile, RateControlMode,
    UsageType, VuiConfig,
};
use openh264::formats::{RgbaSliceU8, YUVBuffer};

use self::mp4::{Sample, Track};
use crate::{draw, height_for};

/// The largest picture of a film.
pub const MAX_SIZE: (u32, u32) = (1280, 720);

/// The most pictures a second; environments that step faster are shown at every second step, or
/// fewer.
pub const MAX_FRAMES_PER_SECOND: u32 = 30;

/// The width that suits most scenes.
const WIDTH: u32 = 640;

/// Seconds between pictures that need no other, which is as near as seeking gets.
const SECONDS_BETWEEN_WHOLE: u32 = 2;

/// Letters of a caption, as a share of the picture's height.
const CAPTION: f32 = 0.045;

/// Why there is no film.
#[derive(Debug, thiserror::Error)]
pub enum FilmError {
    /// The encoder failed.
    #[error("the film cannot be encoded: {0}")]
    Encoder(#[from] openh264::Error),
    /// Nothing was added to it.
    #[error("a film needs at least one picture")]
    Empty,
}

/// A film in the making.
///
/// It grows in memory, by some kilobytes a second: its table of contents stands before its
/// pictures, so the file can only be written at the end.
pub struct Film {
    encoder: Encoder,
    pixels: YUVBuffer,
    size: (u32, u32),
    frames_per_second: u32,
    track: Option<Track>,
}

impl std::fmt::Debug for Film {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { size, frames_per_second, .. } = self;
        write!(f, "Film({size:?} at {frames_per_second}, {} pictures)", self.n_frames())
    }
}

/// The size that suits a film of scenes like this one: even, and within [`MAX_SIZE`].
pub fn size_for(scene: &Scene) -> (u32, u32) {
    let height = height_for(scene, WIDTH);
    if height <= MAX_SIZE.1 {
        return (WIDTH, height);
    }
    ((WIDTH * MAX_SIZE.1 / height).next_multiple_of(2), MAX_SIZE.1)
}

/// How an environment of `steps_per_second` is shown: every how many steps, and how many pictures
/// a second that makes.
pub fn pace(steps_per_second: u32) -> (u32, u32) {
    let steps_per_second = steps_per_second.max(1);
    let every = steps_per_second.div_ceil(MAX_FRAMES_PER_SECOND);
    (every, (steps_per_second / every).max(1))
}

/// The scene with a line of text at its upper left.
pub fn captioned(mut scene: Scene, text: &str) -> Scene {
    let [left, bottom, right, top] = scene.view;
    let size = CAPTION * (top - bottom);
    // Texts are centred, and every letter is as wide: 0.602 of its height.
    let half = 0.302 * size * text.chars().count() as f32;
    let x = (left + 0.5 * size + half).min((left + right) / 2.0);
    let at = [x, top - size];
    scene.shapes.push(Shape::Text { at, text: text.to_owned(), size, paint: Paint::SceneText });
    scene
}

impl Film {
    /// A film of pictures of this size.
    ///
    /// # Panics
    ///
    /// If a side is odd, or beyond [`MAX_SIZE`], or if there are no pictures in a second.
    pub fn new((width, height): (u32, u32), frames_per_second: u32) -> Result<Self, FilmError> {
        assert!(width.is_multiple_of(2) && height.is_multiple_of(2), "colours are 2 by 2 pixels");
        assert!(width > 0 && width <= MAX_SIZE.0 && height > 0 && height <= MAX_SIZE.1);
        assert!(frames_per_second > 0, "a film moves");
        let config = EncoderConfig::new()
            .profile(Profile::Baseline)
            .usage_type(UsageType::CameraVideoRealTime)
            .complexity(Complexity::Low)
            // At a constant quality nothing is skipped and no scene suffers for another.
            .rate_control_mode(RateControlMode::Off)
            .skip_frames(false)
            .adaptive_quantization(false)
            .background_detection(false)
            .scene_change_detect(false)
            .intra_frame_period(IntraFramePeriod::from_num_frames(
                SECONDS_BETWEEN_WHOLE * frames_per_second,
            ))
            .max_frame_rate(FrameRate::from_hz(frames_per_second as f32))
            // The same bytes on every machine, and no core that a training could use.
            .num_threads(1)
            // What the conversion from red, green and blue assumes.
            .vui(VuiConfig::bt601());
        let encoder = Encoder::with_api_config(OpenH264API::from_source(), config)?;
        let pixels = YUVBuffer::new(width as usize, height as usize);
        Ok(Self { encoder, pixels, size: (width, height), frames_per_second, track: None })
    }

    /// Adds a picture.
    pub fn add(&mut self, scene: &Scene) -> Result<(), FilmError> {
        let (width, height) = self.size;
        let canvas = draw(scene, width, height);
        // Everything is opaque, so it does not matter that colours are multiplied by their opacity.
        let source = RgbaSliceU8::new(canvas.data(), (width as usize, height as usize));
        self.pixels.read_rgba8(source);
        let encoded = self.encoder.encode(&self.pixels)?;
        let mut sample = Sample::default();
        let (mut sequence, mut picture) = (Vec::new(), Vec::new());
        let layers = (0..encoded.num_layers()).filter_map(|place| encoded.layer(place));
        for layer in layers {
            for unit in (0..layer.nal_count()).filter_map(|place| layer.nal_unit(place)) {
                let unit = without_start(unit);
                // The low five bits of its first byte say what a unit is (ITU-T H.264, table 7-1).
                match unit.first().map(|byte| byte & 0x1f) {
                    Some(7) => sequence = unit.to_vec(),
                    Some(8) => picture = unit.to_vec(),
                    Some(kind @ (1 | 5)) => {
                        sample.is_whole |= kind == 5;
                        let length = u32::try_from(unit.len()).expect("a picture is small");
                        sample.bytes.extend_from_slice(&length.to_be_bytes());
                        sample.bytes.extend_from_slice(unit);
                    }
                    _ => {}
                }
            }
        }
        let track = self.track.get_or_insert_with(|| Track {
            size: (width, height),
            frames_per_second: self.frames_per_second,
            sequence,
            picture,
            samples: Vec::new(),
        });
        track.samples.push(sample);
        Ok(())
    }

    /// Number of its pictures.
    pub fn n_frames(&self) -> usize {
        self.track.as_ref().map_or(0, |track| track.samples.len())
    }

    /// How long it is, in seconds.
    pub fn seconds(&self) -> f64 {
        self.n_frames() as f64 / f64::from(self.frames_per_second)
    }

    /// The film as a file.
    pub fn finish(self) -> Result<Vec<u8>, FilmError> {
        Ok(self.track.ok_or(FilmError::Empty)?.file())
    }
}

/// A unit without the zeros and the one before it, which an MP4 file does not have.
fn without_start(unit: &[u8]) -> &[u8] {
    let zeros = unit.iter().take_while(|byte| **byte == 0).count();
    if zeros >= 2 && unit.get(zeros) == Some(&1) { &unit[zeros + 1..] } else { unit }
}

#[cfg(test)]
mod tests;
