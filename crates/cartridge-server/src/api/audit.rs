//! `/api/audit`: who changed what.

use axum::Json;
use axum::extract::State;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::IntoResponse;
use cartridge_run::audit::{self, AuditLine, Filter};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::AppState;
use crate::error::{ApiError, Problem};
use crate::extract::Query;
use crate::time::{parse_rfc3339, rfc3339};

/// What was done, and by whom.
#[derive(Debug, Serialize, ToSchema)]
pub struct Audit {
    /// Oldest first.
    pub lines: Vec<AuditEntry>,
    /// What to give as `before` for the lines before these, if there may be some.
    #[schema(required)]
    pub before: Option<u64>,
}

/// One thing that was done.
#[derive(Debug, Serialize, ToSchema)]
pub struct AuditEntry {
    /// Number of the line in the audit, from 1.
    pub seq: u64,
    /// When (RFC 3339).
    pub at: String,
    /// Who did it: the name of their token, or of the user at the command line.
    pub who: String,
    /// The role of their token; whoever worked on the folder itself needs none.
    #[schema(required)]
    pub role: Option<&'static str>,
    /// What was done.
    #[schema(example = "tune")]
    pub what: &'static str,
    /// What it was done to: mostly a run.
    pub target: String,
    /// What was there before.
    pub old: Value,
    /// What is there now.
    pub new: Value,
    /// The key that the client gave the request.
    #[schema(required)]
    pub request: Option<String>,
    /// The number of the request, as in the lab's log.
    #[schema(required)]
    pub request_id: Option<String>,
    /// Hash of the line, which the next one carries.
    pub hash: String,
}

impl From<AuditLine> for AuditEntry {
    fn from(line: AuditLine) -> Self {
        let AuditLine {
            seq, t, who, role, what, target, old, new, request, request_id, hash, ..
        } = line;
        let (at, what, role) = (rfc3339(t), what.as_str(), role.map(|role| role.as_str()));
        Self { seq, at, who, role, what, target, old, new, request, request_id, hash }
    }
}

/// Which lines of the audit.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct AuditQuery {
    /// By whom.
    actor: Option<String>,
    /// What was done, such as `tune`.
    action: Option<String>,
    /// To which run, or whatever else has a name.
    run: Option<String>,
    /// Not before this time (RFC 3339, or Unix seconds).
    from: Option<String>,
    /// Not after this time.
    to: Option<String>,
    /// Lines before the one with this number.
    #[param(minimum = 1)]
    before: Option<u64>,
    /// How many of the newest that fit, at most 10,000.
    #[serde(default = "default_lines", alias = "tail")]
    #[param(required = false, minimum = 1, maximum = 10000)]
    limit: usize,
}

fn default_lines() -> usize {
    200
}

impl AuditQuery {
    fn filter(&self) -> Result<Filter, ApiError> {
        filter(&self.actor, &self.action, &self.run, &self.from, &self.to, self.before)
    }
}

fn filter(
    actor: &Option<String>,
    action: &Option<String>,
    run: &Option<String>,
    from: &Option<String>,
    to: &Option<String>,
    before: Option<u64>,
) -> Result<Filter, ApiError> {
    let time = |pointer: &str, text: &Option<String>| match text {
        None => Ok(None),
        Some(text) => parse_rfc3339(text).map(Some).ok_or_else(|| ApiError::Field {
            pointer: pointer.to_owned(),
            detail: "write a time as 2026-01-31T12:00:00Z, or as Unix seconds".to_owned(),
        }),
    };
    Ok(Filter {
        who: actor.clone(),
        what: action.clone(),
        target: run.clone(),
        from: time("/from", from)?,
        to: time("/to", to)?,
        before,
    })
}

/// Tell what was done, and by whom.
#[utoipa::path(
    get,
    path = "/api/audit",
    tag = "audit",
    params(AuditQuery),
    responses(
        (status = 200, body = Audit),
        (status = 400, body = Problem),
        (status = 401, body = Problem),
        (status = 422, body = Problem),
    ),
)]
async fn show_audit(
    State(state): State<AppState>,
    Query(query): Query<AuditQuery>,
) -> Result<Json<Audit>, ApiError> {
    let (filter, limit) = (query.filter()?, query.limit.clamp(1, 10_000));
    let lines = state.ask(move |lab| audit::find(lab.data(), &filter, limit)).await?;
    let before = lines.first().filter(|line| lines.len() == limit && line.seq > 1);
    let before = before.map(|line| line.seq);
    Ok(Json(Audit { lines: lines.into_iter().map(Into::into).collect(), before }))
}

/// Whether the records are as they were written.
#[derive(Debug, Serialize, ToSchema)]
pub struct AuditCheck {
    /// Lines of the audit and of all control files that are as they were written.
    pub lines: u64,
    /// Whether all of them are.
    pub intact: bool,
    /// The first bad line of each file that has one; the audit first, then runs by name.
    pub bad: Vec<BadLine>,
}

/// A line that is not as it was written.
#[derive(Debug, Serialize, ToSchema)]
pub struct BadLine {
    /// The file, below the data folder.
    #[schema(example = "audit.jsonl")]
    pub file: String,
    /// Number of the line in it, from 1.
    pub line: u64,
    /// What is wrong with it.
    pub reason: String,
}

/// Check the audit and the control lines of all runs, as `cartridge audit verify` does.
#[utoipa::path(
    get,
    path = "/api/audit/verify",
    tag = "audit",
    responses((status = 200, body = AuditCheck), (status = 401, body = Problem)),
)]
async fn verify_audit(State(state): State<AppState>) -> Result<Json<AuditCheck>, ApiError> {
    let audit::Verdict { n_good, bad } = state.ask(|lab| audit::verify(lab.data())).await?;
    let intact = bad.is_empty();
    let bad =
        bad.into_iter().map(|audit::BadLine { file, line, reason }| BadLine { file, line, reason });
    Ok(Json(AuditCheck { lines: n_good, intact, bad: bad.collect() }))
}

/// In which form.
#[derive(Clone, Copy, Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum ExportFormat {
    /// A table for spreadsheets. A cell that a spreadsheet would take for a formula begins with an
    /// apostrophe.
    #[default]
    Csv,
    /// An object with the lines.
    Json,
}

/// Which lines of the audit, and in which form.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct ExportQuery {
    /// In which form.
    #[serde(default)]
    #[param(required = false, inline)]
    format: ExportFormat,
    /// By whom.
    actor: Option<String>,
    /// What was done, such as `tune`.
    action: Option<String>,
    /// To which run, or whatever else has a name.
    run: Option<String>,
    /// Not before this time (RFC 3339, or Unix seconds).
    from: Option<String>,
    /// Not after this time.
    to: Option<String>,
    /// Lines before the one with this number.
    #[param(minimum = 1)]
    before: Option<u64>,
    /// How many of the newest that fit, at most 100,000.
    #[serde(default = "most_lines")]
    #[param(required = false, minimum = 1, maximum = 100000)]
    limit: usize,
}

fn most_lines() -> usize {
    100_000
}

/// The audit as a file.
#[derive(Debug, Serialize, ToSchema)]
pub struct AuditExport {
    /// Oldest first.
    pub lines: Vec<AuditEntry>,
}

/// Get the audit as a file.
#[utoipa::path(
    get,
    path = "/api/audit/export",
    tag = "audit",
    params(ExportQuery),
    responses(
        (status = 200, description = "The lines", content((String = "text/csv"), (AuditExport = "application/json"))),
        (status = 400, body = Problem),
        (status = 401, body = Problem),
        (status = 422, body = Problem),
    ),
)]
async fn export_audit(
    State(state): State<AppState>,
    Query(query): Query<ExportQuery>,
) -> Result<impl IntoResponse, ApiError> {
    let ExportQuery { format, actor, action, run, from, to, before, limit } = query;
    let filter = filter(&actor, &action, &run, &from, &to, before)?;
    let limit = limit.clamp(1, 100_000);
    let lines = state.ask(move |lab| audit::find(lab.data(), &filter, limit)).await?;
    let (kind, name, text) = match format {
        ExportFormat::Csv => ("text/csv; charset=utf-8", "audit.csv", to_csv(&lines)),
        ExportFormat::Json => ("application/json", "audit.json", to_json(lines)),
    };
    let disposition = format!("attachment; filename=\"{name}\"");
    Ok(([(CONTENT_TYPE, kind.to_owned()), (CONTENT_DISPOSITION, disposition)], text))
}

/// Lines as an object, which no page of another site can read as a script.
pub fn to_json(lines: Vec<AuditLine>) -> String {
    let lines = lines.into_iter().map(Into::into).collect();
    serde_json::to_string(&AuditExport { lines }).expect("entries are plain data")
}

/// Lines as a table for spreadsheets.
pub fn to_csv(lines: &[AuditLine]) -> String {
    let mut text = "seq,at,who,role,what,target,old,new,request,request_id,hash\r\n".to_owned();
    for line in lines {
        let json = |value: &Value| if value.is_null() { String::new() } else { value.to_string() };
        let cells = [
            line.seq.to_string(),
            rfc3339(line.t),
            line.who.clone(),
            line.role.map_or_else(String::new, |role| role.to_string()),
            line.what.as_str().to_owned(),
            line.target.clone(),
            json(&line.old),
            json(&line.new),
            line.request.clone().unwrap_or_default(),
            line.request_id.clone().unwrap_or_default(),
            line.hash.clone(),
        ];
        let cells: Vec<String> = cells.iter().map(|cell| csv_cell(cell)).collect();
        text.push_str(&cells.join(","));
        text.push_str("\r\n");
    }
    text
}

/// A cell that no spreadsheet takes for a formula and no reader for two.
pub fn csv_cell(text: &str) -> String {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let text = if is_formula { format!("'{text}") } else { text.to_owned() };
    if text.contains([',', '"', '\n', '\r', '\t']) || is_formula {
        return format!("\"{}\"", text.replace('"', "\"\""));
    }
    text
}

/// The routes of this file.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(show_audit))
        .routes(routes!(export_audit))
        .routes(routes!(verify_audit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_no_formulas() {
        for (text, cell) in [
            ("plain", "plain"),
            ("=1+1", "\"'=1+1\""),
            ("+1", "\"'+1\""),
            ("-1", "\"'-1\""),
            ("@SUM(A1)", "\"'@SUM(A1)\""),
            ("\t=1", "\"'\t=1\""),
            ("\r=1", "\"'\r=1\""),
            ("a,b", "\"a,b\""),
            ("say \"hi\"", "\"say \"\"hi\"\"\""),
            ("a\nb", "\"a\nb\""),
            ("", ""),
        ] {
            assert_eq!(csv_cell(text), cell);
        }
    }
}
