//! A chart as SVG: axes at the least and greatest values, and a line that breaks where a value was
//! not finite.

use std::fmt::Write as _;

use super::Chart;
use super::page::escape;
use super::text::grouped;
use crate::insight::small_figure;

/// About the size at which it is shown, so that its numbers can be read.
const WIDTH: f64 = 380.0;
const HEIGHT: f64 = 150.0;
/// Room for the numbers at the left and below.
const LEFT: f64 = 52.0;
const BELOW: f64 = 22.0;
const ABOVE: f64 = 10.0;

pub(super) fn render(chart: &Chart) -> String {
    let label = escape(&chart.label);
    let values = chart.value.iter().flatten();
    let (least, greatest) = values
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &value| {
            (low.min(value), high.max(value))
        });
    let (Some(&first), Some(&last)) = (chart.step.iter().min(), chart.step.iter().max()) else {
        return String::new();
    };
    if !least.is_finite() {
        return String::new();
    }
    // A flat line is drawn in the middle.
    let pad = if greatest > least { 0.0 } else { least.abs().max(1.0) * 0.1 };
    let (bottom, top) = (least - pad, greatest + pad);
    let (inner_width, inner_height) = (WIDTH - LEFT - 8.0, HEIGHT - ABOVE - BELOW);
    let x = |step: u64| {
        let span = last.saturating_sub(first).max(1) as f64;
        LEFT + inner_width * (step - first) as f64 / span
    };
    // Halves, because the span of two huge values may be infinite.
    let y = |value: f64| {
        let share = (value / 2.0 - bottom / 2.0) / (top / 2.0 - bottom / 2.0);
        ABOVE + inner_height * (1.0 - share)
    };
    let mut path = String::new();
    let mut is_on = false;
    for (&step, value) in chart.step.iter().zip(&chart.value) {
        match value {
            Some(value) => {
                let (x, y) = (x(step), y(*value));
                // A point by itself is a line of no length, which has round ends.
                _ = if is_on {
                    write!(path, "L{x:.1} {y:.1}")
                } else {
                    write!(path, "M{x:.1} {y:.1}h0")
                };
                is_on = true;
            }
            None => is_on = false,
        }
    }
    let (right, base) = (WIDTH - 8.0, HEIGHT - BELOW);
    let text = |x: f64, y: f64, anchor: &str, what: &str| {
        format!("<text x=\"{x}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{}</text>", escape(what))
    };
    [
        format!("<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{label}\">"),
        format!("<title>{label}</title>"),
        format!("<path class=\"axis\" d=\"M{LEFT} {ABOVE}V{base}H{right}\"/>"),
        text(LEFT - 6.0, y(greatest) + 4.0, "end", &small_figure(greatest)),
        if greatest > least {
            text(LEFT - 6.0, y(least) + 4.0, "end", &small_figure(least))
        } else {
            String::new()
        },
        text(LEFT, HEIGHT - 6.0, "start", &grouped(first)),
        text(right, HEIGHT - 6.0, "end", &format!("{} steps", grouped(last))),
        format!("<path class=\"line\" d=\"{path}\"/></svg>"),
    ]
    .concat()
}
