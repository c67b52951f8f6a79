//! A report as a page of HTML.

use std::fmt::Write as _;

use super::text::{grouped, moment, value};
use super::{Report, chart, text};
use crate::insight::figure;

/// Colours of both lights; nothing here asks for anything outside the page.
const STYLE: &str = "
:root{color-scheme:light dark;--ink:#1b1f24;--paper:#fff;--faint:#667;--rule:#d8dce2;--line:#0a66c2}
@media(prefers-color-scheme:dark){:root{--ink:#e6e9ee;--paper:#14171b;--faint:#9aa3ad;--rule:#343a41;--line:#5aa9f0}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:72rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.5rem}h2{font-size:1.1rem;margin-top:2rem;border-bottom:1px solid var(--rule)}
table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.2rem .6rem .2rem 0;vertical-align:top;overflow-wrap:anywhere}
th{color:var(--faint);font-weight:normal}th,td:first-child{white-space:nowrap;overflow-wrap:normal}
.wide{overflow-x:auto}
.insight p{margin:.6rem 0}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(20rem,100%),1fr));gap:1rem}
figure{margin:0}figcaption{color:var(--faint)}svg{width:100%;max-width:32rem;height:auto}
svg text{font:11px system-ui,sans-serif;fill:var(--faint)}
.axis{fill:none;stroke:var(--rule)}.line{fill:none;stroke:var(--line);stroke-width:1.5;stroke-linejoin:round;stroke-linecap:round}
pre{overflow:auto;padding:.8rem;border:1px solid var(--rule)}
.error,.warning{border-left:3px solid #c33;padding-left:.6rem}.warning{border-color:#d90}
.good{border-left:3px solid #2a2;padding-left:.6rem}.info{border-left:3px solid var(--rule);padding-left:.6rem}
";

pub(super) fn render(report: &Report) -> String {
    let mut out = String::new();
    let name = escape(&report.name);
    _ = write!(
        out,
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\"><title>{name}</title>\
         <style>{STYLE}</style></head><body><h1>{name}</h1><p>{}, {}, step {}, {} episodes</p><p>{}</p>",
        escape(report.run_id.as_str()),
        escape(&report.state),
        grouped(report.step),
        grouped(report.episodes),
        escape(&report.insights.summary)
    );
    out += "<h2>Insights</h2>";
    for insight in &report.insights.insights {
        _ = write!(
            out,
            "<div class=\"insight {}\"><p><strong>{}</strong><br>{}",
            insight.severity.as_str(),
            escape(&insight.sentence),
            escape(&insight.detail)
        );
        if let Some(suggestion) = &insight.suggestion {
            _ = write!(out, "<br>{}", escape(suggestion));
        }
        out += "</p></div>";
    }
    out += "<h2>Charts</h2><div class=\"charts\">";
    for shown in &report.charts {
        let (label, picture) = (escape(&shown.label), chart::render(shown));
        _ = write!(out, "<figure><figcaption>{label}</figcaption>{picture}</figure>");
    }
    out += "</div>";
    table(
        &mut out,
        "Evaluations",
        &["step", "mean", "95% interval", "episodes"],
        report.evaluations.iter().map(|found| {
            let [low, high] = found.ci95.map(figure);
            vec![
                grouped(found.step),
                figure(found.mean),
                format!("{low} to {high}"),
                found.episodes.to_string(),
            ]
        }),
    );
    let facts = text::facts(report).into_iter();
    table(&mut out, "The run", &[], facts.map(|(what, value)| vec![what.to_owned(), value]));
    table(
        &mut out,
        "Changes",
        &["when", "who", "what", "before", "after"],
        report.changes.iter().map(|change| {
            let (when, what) = (moment(change.t), change.what.to_owned());
            vec![when, change.who.clone(), what, value(&change.old), value(&change.new)]
        }),
    );
    table(
        &mut out,
        "Warnings",
        &["when", "what"],
        report.warnings.iter().map(|warning| vec![moment(warning.t), warning.message.clone()]),
    );
    let config = escape(&format!("{:#}", report.config));
    _ = write!(out, "<h2>Configuration</h2><pre>{config}</pre></body></html>");
    out
}

/// A table, unless it is empty.
fn table(out: &mut String, title: &str, head: &[&str], rows: impl Iterator<Item = Vec<String>>) {
    let mut rows = rows.peekable();
    if rows.peek().is_none() {
        return;
    }
    _ = write!(out, "<h2>{title}</h2><div class=\"wide\"><table>");
    if !head.is_empty() {
        let cells: String = head.iter().map(|cell| format!("<th>{cell}</th>")).collect();
        _ = write!(out, "<tr>{cells}</tr>");
    }
    for row in rows {
        let cells: String = row.iter().map(|cell| format!("<td>{}</td>", escape(cell))).collect();
        _ = write!(out, "<tr>{cells}</tr>");
    }
    *out += "</table></div>";
}

/// Text in a page: no character of it is markup.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            // Control characters but line breaks are not allowed in a page.
            c if c.is_control() && c != '\n' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
