use cartridge_store::RunDir;
use serde_json::json;

use super::*;

const EVIL: &str = "<script>alert('1')</script>\"&\u{1b}[2J";

/// The report of a run whose every word is an attack.
fn report() -> Report {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::open(folder.path()).unwrap();
    let (dir, manifest) = RunDir::create(&data, |id| {
        serde_json::from_value(json!({
            "format": 1, "id": id, "kind": "external", "name": EVIL, "env_id": EVIL,
            "config": { EVIL: EVIL }, "created_at": 1.0, "cartridge_version": "0",
        }))
        .unwrap()
    })
    .unwrap();
    let rows = (1..=900).map(|row| {
        let values = json!({ "rollout/ep_rew_mean": row, "train/loss": if row == 5 { None } else { Some(0.5) } });
        format!("{}\n", json!({ "attempt": 1, "row": row, "t": row, "step": 10 * row, "values": values }))
    });
    std::fs::write(dir.metrics_path(), rows.collect::<String>()).unwrap();
    let events = [
        json!({ "attempt": 1, "t": 2.0, "type": "warning", "message": EVIL }),
        json!({
            "attempt": 1, "t": 3.0, "type": "evaluation_complete", "step": 100, "episodes": 5,
            "mean": 12.5, "std": 1.0, "ci95": [11.0, 14.0], "mean_length": 9.0,
        }),
    ];
    let events = events.map(|line| format!("{line}\n")).concat();
    std::fs::write(dir.events_path(), events).unwrap();
    read(&data, &manifest.id).unwrap()
}

#[test]
fn a_page_has_no_script_and_no_address() {
    let page = report().to_html();
    for evil in ["<script", "http:", "https:", "//", "src=", "href=", "url(", "@import", "\u{1b}"] {
        assert!(!page.contains(evil), "{evil}");
    }
    assert!(page.contains("&lt;script&gt;alert(&#39;1&#39;)"));
    assert!(page.contains("<svg") && page.contains("Evaluations") && page.contains("11.0 to 14.0"));
    // Every tag that is opened is closed, as far as a count can tell.
    for tag in ["svg", "table", "figure", "div", "p", "h2", "pre", "body"] {
        let opened =
            page.matches(&format!("<{tag}>")).count() + page.matches(&format!("<{tag} ")).count();
        assert_eq!(opened, page.matches(&format!("</{tag}>")).count(), "{tag}");
    }
}

#[test]
fn a_text_moves_no_cursor() {
    let text = report().to_text();
    assert!(!text.contains('\u{1b}'), "{text}");
    assert!(text.contains("12.5 (11.0 to 14.0) over 5 episodes"), "{text}");
    assert!(text.contains("Episode reward           1.0 -> 900, 1.0 to 900"), "{text}");
}

#[test]
fn charts_are_thinned_out_and_keep_their_ends() {
    let report = report();
    let chart = &report.charts[0];
    assert!(chart.step.len() <= CHART_POINTS + 1);
    assert_eq!((chart.step.first(), chart.step.last()), (Some(&10), Some(&9_000)));
}

/// A line breaks where a value was not finite, and whatever the values are, all numbers of the
/// picture are finite.
#[test]
fn charts_take_any_values() {
    let check = |values: &[Option<f64>], n_lines: usize| {
        let chart = Chart {
            key: "train/loss".to_owned(),
            label: "Loss".to_owned(),
            step: (0..values.len() as u64).collect(),
            value: values.to_vec(),
        };
        let picture = chart::render(&chart);
        assert!(!picture.contains("NaN") && !picture.contains("inf"), "{picture}");
        let line = picture.split("class=\"line\" d=\"").nth(1).unwrap_or_default();
        assert_eq!(line.matches('M').count(), n_lines, "{picture}");
    };
    check(&[], 0);
    check(&[None, None], 0);
    check(&[Some(1.0)], 1);
    check(&[Some(1.0), None, Some(2.0), Some(3.0)], 2);
    check(&[Some(0.0), Some(0.0)], 1);
    check(&[Some(f64::MAX), Some(f64::MIN)], 1);
}
