//! A chart as SVG: axes at the least and greatest values, and a line that breaks where a value was
//! not finite.

use std::fmt::Write as _;

use super::Chart;
use super::page::escape;
use crate::insight::figure;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 180.0;
/// Room for the numbers at the left and below.
const LEFT: f64 = 64.0;
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
                let letter = if is_on { 'L' } else { 'M' };
                _ = write!(path, "{letter}{:.1} {:.1}", x(step), y(*value));
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
        text(LEFT - 6.0, y(greatest) + 4.0, "end", &figure(greatest)),
        if greatest > least {
            text(LEFT - 6.0, y(least) + 4.0, "end", &figure(least))
        } else {
            String::new()
        },
        text(LEFT, HEIGHT - 6.0, "start", &first.to_string()),
        text(right, HEIGHT - 6.0, "end", &format!("{last} steps")),
        format!("<path class=\"line\" d=\"{path}\"/></svg>"),
    ]
    .concat()
}
