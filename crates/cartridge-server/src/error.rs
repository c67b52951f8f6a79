//! What a client is told when something goes wrong: RFC 9457 problems.

use std::time::{Duration, Instant};

use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use cartridge_run::config::ConfigError;
use cartridge_run::lab::DiskProblem;
use cartridge_run::store::{DiskTrouble, StoreError};
use cartridge_run::token::Role;
use cartridge_run::{RunError, secret};
use serde::Serialize;
use utoipa::ToSchema;

use crate::upstream::Trouble;

/// Every way in which a request can fail.
#[derive(Debug, thiserror::Error)]
pub enum ApiError {
    /// The lab said no.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A field of the request is wrong.
    #[error("{detail}")]
    Field {
        /// JSON pointer of the field.
        pointer: String,
        /// What is wrong with it.
        detail: String,
    },
    /// A field of the request names no game or environment.
    #[error("{detail}")]
    UnknownEnvironment {
        /// JSON pointer of the field.
        pointer: &'static str,
        /// What there is instead.
        detail: String,
    },
    /// Fields of a configuration are wrong: JSON pointers, and what is wrong with each.
    #[error("{}", in_sentences(.0))]
    Fields(Vec<(String, String)>),
    /// The body is larger than any request of ours.
    #[error("the body is larger than {} bytes", crate::MAX_BODY_BYTES)]
    TooLarge,
    /// The body is larger than this route takes.
    #[error("the body is larger than {0} bytes")]
    LargeBody(usize),
    /// The body is no JSON, or not said to be.
    #[error("{0}")]
    Malformed(String),
    /// Neither token nor login.
    #[error(
        "this needs a login or the token: see `cartridge url` and the file `token` in the data folder"
    )]
    Unauthorized,
    /// The role of the token is not enough.
    #[error(
        "this needs the role {needed}, and this token has {has}; an admin makes others with `cartridge token new --role {needed}`"
    )]
    RoleTooLow {
        /// What the token may do.
        has: Role,
        /// What is needed.
        needed: Role,
    },
    /// The ticket was used before, is too old, or is for another address.
    #[error("this ticket is not good here: ask for a new one with POST /api/tickets")]
    WrongTicket,
    /// Too many tickets wait to be used.
    #[error("too many tickets are out; use some, or wait half a minute")]
    NoTicket,
    /// Too many requests.
    #[error("too many requests; try again in {} s", .0.as_secs() + 1)]
    TooFast(Duration),
    /// Too many live streams.
    #[error("{0} live streams are open; close one of them first")]
    NoStream(usize),
    /// The address is too long.
    #[error("the address is longer than {0} bytes")]
    LongAddress(usize),
    /// The body did not come in time.
    #[error("the body did not come within {} s", .0.as_secs())]
    SlowBody(Duration),
    /// A mutation without a key.
    #[error(
        "send a header `Idempotency-Key` with a value that is new for each action, such as a UUID, and the same when you ask again"
    )]
    NoKey,
    /// The same request is being answered.
    #[error("the request with this `Idempotency-Key` is still under way; ask again in a moment")]
    UnderWay,
    /// The key belongs to another request.
    #[error("this `Idempotency-Key` was used for another request; take a new one")]
    KeyReused,
    /// What was made is shown once.
    #[error(
        "this request has made its token already, and a token is shown once; revoke it and make another"
    )]
    ShownOnce,
    /// The token that was given is not the lab's.
    #[error("this is not the token of this lab")]
    WrongToken,
    /// The request names a host that is not this lab's.
    #[error(
        "this lab does not answer to the host `{0}`; start it with --allow-host to change that"
    )]
    ForeignHost(String),
    /// The request comes from another site's page.
    #[error("requests from the pages of other sites are refused")]
    ForeignOrigin,
    /// There is no such environment.
    #[error("{0}")]
    NoSuchEnvironment(String),
    /// The address is for WebSocket connections.
    #[error("this address takes WebSocket connections: {0}")]
    NotAWebSocket(String),
    /// As many people play as the lab has room for.
    #[error("{0} environments are being played; close one of them first")]
    NoSeat(usize),
    /// There is no such episode.
    #[error("there is no episode {0} in this session")]
    NoSuchEpisode(u32),
    /// There is nothing here.
    #[error("there is nothing at this address")]
    NoSuchRoute,
    /// The address exists, and the method does not.
    #[error("this address does not take this method")]
    MethodNotAllowed,
    /// The disk takes no more.
    #[error("{}", disk_words(.0))]
    Disk(DiskProblem),
    /// The W&B server that is shown failed, and nothing is known from before.
    #[error(transparent)]
    Wandb(Trouble),
    /// The W&B server has no such project or run.
    #[error("{0}")]
    NoSuchWandbRun(String),
    /// Our fault.
    #[error("{0}")]
    Internal(String),
}

/// The body of a failed request.
#[derive(Debug, Serialize, ToSchema)]
pub struct Problem {
    /// Always `about:blank`: the code says which problem it is.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// The HTTP status in words.
    pub title: &'static str,
    /// The HTTP status.
    pub status: u16,
    /// What went wrong, for people.
    pub detail: String,
    /// Which problem it is, for programs.
    pub code: &'static str,
    /// Number of the request, as in the log and the `X-Request-Id` header.
    pub request_id: String,
    /// The fields that are wrong.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub errors: Vec<FieldProblem>,
}

/// A field that is wrong.
#[derive(Debug, Serialize, ToSchema)]
pub struct FieldProblem {
    /// JSON pointer of the field in the request body.
    pub pointer: String,
    /// What is wrong with it.
    pub detail: String,
}

fn in_sentences(problems: &[(String, String)]) -> String {
    let details: Vec<&str> = problems.iter().map(|(_, detail)| detail.as_str()).collect();
    details.join("; ")
}

fn disk_words(problem: &DiskProblem) -> String {
    let DiskProblem { trouble, path, free_bytes } = problem;
    let (what, hint) = match trouble {
        DiskTrouble::Full => {
            ("the disk is full", "free some room, for example with `cartridge gc`")
        }
        DiskTrouble::OverQuota => {
            ("the quota of the disk is used up", "free some room, or raise it")
        }
        DiskTrouble::ReadOnly => ("the disk is read-only", "mount it for writing"),
    };
    format!(
        "{what}: {} cannot be written, {free_bytes} bytes are free; {hint} and try again",
        path.display()
    )
}

impl ApiError {
    /// The status and the code of each failure, in one place.
    fn status(&self) -> (StatusCode, &'static str) {
        match self {
            Self::Run(error) => match error {
                RunError::Config(ConfigError::Registry(_)) | RunError::Registry(_) => {
                    (StatusCode::UNPROCESSABLE_ENTITY, "unknown_environment")
                }
                RunError::Config(ConfigError::UnknownSchema { .. }) => {
                    (StatusCode::NOT_FOUND, "no_such_schema")
                }
                RunError::Config(_) | RunError::Configs(_) | RunError::GameOption { .. } => {
                    (StatusCode::UNPROCESSABLE_ENTITY, "invalid_config")
                }
                RunError::UnknownOpponent { .. } => {
                    (StatusCode::UNPROCESSABLE_ENTITY, "unknown_opponent")
                }
                RunError::UnknownLevel { .. } => {
                    (StatusCode::UNPROCESSABLE_ENTITY, "unknown_level")
                }
                RunError::BadPlayer { .. } => (StatusCode::UNPROCESSABLE_ENTITY, "bad_player"),
                RunError::NoContest(_) => (StatusCode::NOT_FOUND, "no_contest"),
                RunError::IllegalMove { .. }
                | RunError::BadAction { .. }
                | RunError::BadActions { .. } => (StatusCode::UNPROCESSABLE_ENTITY, "illegal_move"),
                RunError::StaleMove { .. } => (StatusCode::CONFLICT, "stale_move"),
                RunError::NotYours { .. } => (StatusCode::FORBIDDEN, "not_yours"),
                RunError::NothingToUndo => (StatusCode::CONFLICT, "nothing_to_undo"),
                RunError::NoSuchPly { .. } => (StatusCode::NOT_FOUND, "no_such_ply"),
                RunError::GameGoesOn => (StatusCode::CONFLICT, "game_goes_on"),
                RunError::NothingToHint => (StatusCode::CONFLICT, "nothing_to_hint"),
                RunError::Ended { .. } => (StatusCode::CONFLICT, "run_ended"),
                RunError::NotNow { .. } => (StatusCode::CONFLICT, "not_now"),
                RunError::NothingLeft { .. } => (StatusCode::CONFLICT, "nothing_left"),
                RunError::NoFork(_) => (StatusCode::CONFLICT, "no_fork"),
                RunError::NoState { .. } | RunError::CannotGoOn { .. } => {
                    (StatusCode::CONFLICT, "no_state")
                }
                RunError::NoPolicy(_)
                | RunError::NobodyToAsk { .. }
                | RunError::MeasuredByGames(_) => (StatusCode::CONFLICT, "no_policy"),
                RunError::NoEvaluation(_) => (StatusCode::NOT_FOUND, "no_evaluation"),
                RunError::NoVideo(_) => (StatusCode::NOT_FOUND, "no_video"),
                RunError::NoPictures { .. } => (StatusCode::NOT_FOUND, "no_pictures"),
                RunError::NoSuchStep { .. } => (StatusCode::NOT_FOUND, "no_such_step"),
                RunError::NoCheckpoint(_) => (StatusCode::NOT_FOUND, "no_checkpoint"),
                RunError::NoSuchCheckpoint { .. } => (StatusCode::NOT_FOUND, "no_checkpoint"),
                RunError::NothingToReproduce(_) => (StatusCode::NOT_FOUND, "no_weights"),
                RunError::NoSuchEpisode { .. } => (StatusCode::NOT_FOUND, "no_such_episode"),
                RunError::NoSuchWindow { .. } => (StatusCode::NOT_FOUND, "no_such_window"),
                RunError::NotRecorded { .. } => (StatusCode::NOT_FOUND, "not_recorded"),
                RunError::BadEpisode { .. } => (StatusCode::CONFLICT, "bad_episode"),
                RunError::ReplayDiffers { .. } | RunError::UnlikeRecorded { .. } => {
                    (StatusCode::CONFLICT, "replay_differs")
                }
                RunError::NoTensorBoard => (StatusCode::CONFLICT, "no_tensorboard"),
                RunError::TensorBoardFailed(_) => (StatusCode::CONFLICT, "tensorboard_failed"),
                RunError::DamagedEpisode { .. } => (StatusCode::CONFLICT, "damaged_episode"),
                RunError::DamagedPast { .. } => (StatusCode::CONFLICT, "damaged_past"),
                RunError::NoActions(_) | RunError::NoPolicyFile(_) => {
                    (StatusCode::NOT_FOUND, "no_such_file")
                }
                RunError::Onnx { .. } | RunError::NoEnvironment(_) => {
                    (StatusCode::UNPROCESSABLE_ENTITY, "bad_policy")
                }
                RunError::Store(StoreError::NoSuchRun(_)) => (StatusCode::NOT_FOUND, "no_such_run"),
                RunError::Store(StoreError::NoSuchExperiment(_)) => {
                    (StatusCode::NOT_FOUND, "no_such_experiment")
                }
                RunError::Store(StoreError::NoSuchModel(_)) => {
                    (StatusCode::NOT_FOUND, "no_such_model")
                }
                RunError::Store(StoreError::NoSuchVersion { .. }) => {
                    (StatusCode::NOT_FOUND, "no_such_version")
                }
                RunError::Store(StoreError::NoSuchGroup(_)) => {
                    (StatusCode::NOT_FOUND, "no_such_group")
                }
                RunError::Store(StoreError::NoSuchArtifact(_)) => {
                    (StatusCode::NOT_FOUND, "no_such_artifact")
                }
                RunError::BadToken { .. } => (StatusCode::UNPROCESSABLE_ENTITY, "invalid_field"),
                RunError::Wandb(_) => (StatusCode::BAD_REQUEST, "wandb"),
                // A status that clients take as a reason to try again.
                RunError::WandbGap { .. } => (StatusCode::SERVICE_UNAVAILABLE, "wandb_gap"),
                RunError::WandbFull(_) => (StatusCode::PAYLOAD_TOO_LARGE, "wandb_full"),
                RunError::NoWandbRun(_) => (StatusCode::NOT_FOUND, "no_such_run"),
                RunError::NoWandbFile(_) => (StatusCode::NOT_FOUND, "no_such_file"),
                RunError::NoWandbKey(_) | RunError::BadWandbServer(_) => {
                    (StatusCode::CONFLICT, "wandb_not_configured")
                }
                RunError::NoSuchTrainer { .. } => (StatusCode::NOT_FOUND, "no_such_trainer"),
                RunError::NoSuchAlert(_) => (StatusCode::NOT_FOUND, "no_such_alert"),
                RunError::AlertOver(_) => (StatusCode::CONFLICT, "alert_over"),
                RunError::NoSuchToken(_) => (StatusCode::NOT_FOUND, "no_such_token"),
                RunError::Store(_)
                | RunError::Policy { .. }
                | RunError::SelfPlay(_)
                | RunError::Spawn { .. }
                | RunError::Diverged { .. }
                | RunError::Film(_)
                | RunError::DatasetExists(_)
                | RunError::NotTracked(_)
                | RunError::BadDatasetName(_)
                | RunError::NothingToExport { .. }
                | RunError::LabRunning { .. } => (StatusCode::INTERNAL_SERVER_ERROR, "internal"),
            },
            Self::Field { .. } => (StatusCode::UNPROCESSABLE_ENTITY, "invalid_field"),
            Self::UnknownEnvironment { .. } => {
                (StatusCode::UNPROCESSABLE_ENTITY, "unknown_environment")
            }
            Self::Fields(_) => (StatusCode::UNPROCESSABLE_ENTITY, "invalid_config"),
            Self::TooLarge | Self::LargeBody(_) => (StatusCode::PAYLOAD_TOO_LARGE, "too_large"),
            Self::Malformed(_) => (StatusCode::BAD_REQUEST, "malformed"),
            Self::Unauthorized => (StatusCode::UNAUTHORIZED, "unauthorized"),
            Self::WrongToken => (StatusCode::UNAUTHORIZED, "wrong_token"),
            Self::WrongTicket => (StatusCode::UNAUTHORIZED, "wrong_ticket"),
            Self::RoleTooLow { .. } => (StatusCode::FORBIDDEN, "role_too_low"),
            Self::NoTicket => (StatusCode::TOO_MANY_REQUESTS, "no_ticket"),
            Self::TooFast(_) => (StatusCode::TOO_MANY_REQUESTS, "too_fast"),
            Self::NoStream(_) => (StatusCode::SERVICE_UNAVAILABLE, "no_stream"),
            Self::LongAddress(_) => (StatusCode::URI_TOO_LONG, "long_address"),
            Self::SlowBody(_) => (StatusCode::REQUEST_TIMEOUT, "slow_body"),
            Self::NoKey => (StatusCode::BAD_REQUEST, "no_idempotency_key"),
            Self::UnderWay => (StatusCode::CONFLICT, "under_way"),
            Self::KeyReused => (StatusCode::UNPROCESSABLE_ENTITY, "idempotency_key_reused"),
            Self::ShownOnce => (StatusCode::CONFLICT, "shown_once"),
            Self::ForeignHost(_) => (StatusCode::FORBIDDEN, "foreign_host"),
            Self::ForeignOrigin => (StatusCode::FORBIDDEN, "foreign_origin"),
            Self::NoSuchEnvironment(_) => (StatusCode::NOT_FOUND, "no_such_environment"),
            Self::NotAWebSocket(_) => (StatusCode::BAD_REQUEST, "not_a_web_socket"),
            Self::NoSeat(_) => (StatusCode::SERVICE_UNAVAILABLE, "no_seat"),
            Self::NoSuchEpisode(_) => (StatusCode::NOT_FOUND, "no_such_episode"),
            Self::NoSuchRoute => (StatusCode::NOT_FOUND, "no_such_route"),
            Self::MethodNotAllowed => (StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed"),
            Self::Disk(problem) => {
                let code = match problem.trouble {
                    DiskTrouble::Full | DiskTrouble::OverQuota => "disk_full",
                    DiskTrouble::ReadOnly => "disk_read_only",
                };
                (StatusCode::INSUFFICIENT_STORAGE, code)
            }
            Self::Wandb(trouble) => {
                let status = match trouble {
                    Trouble::NotConfigured(_) => StatusCode::CONFLICT,
                    Trouble::Limited(_) => StatusCode::SERVICE_UNAVAILABLE,
                    Trouble::Slow(_) => StatusCode::GATEWAY_TIMEOUT,
                    Trouble::Away(_) | Trouble::Refused(..) | Trouble::Malformed(_) => {
                        StatusCode::BAD_GATEWAY
                    }
                };
                (status, trouble.code())
            }
            Self::NoSuchWandbRun(_) => (StatusCode::NOT_FOUND, "no_such_wandb_run"),
            Self::Internal(_) => (StatusCode::INTERNAL_SERVER_ERROR, "internal"),
        }
    }

    /// How long to wait before asking again, where that helps.
    fn retry_after(&self) -> Option<u64> {
        match self {
            Self::TooFast(wait) | Self::Wandb(Trouble::Limited(wait)) => Some(wait.as_secs() + 1),
            Self::UnderWay => Some(1),
            Self::NoStream(_) | Self::NoSeat(_) => Some(5),
            Self::NoTicket => Some(30),
            _ => None,
        }
    }

    /// The fields that are wrong, as pointers into the request.
    fn fields(&self) -> Vec<FieldProblem> {
        if let Self::Fields(problems) = self {
            let problem = |(pointer, detail): &(String, String)| FieldProblem {
                pointer: pointer.clone(),
                detail: detail.clone(),
            };
            return problems.iter().map(problem).collect();
        }
        if let Self::Run(RunError::Configs(errors)) = self {
            let problem = |error: &ConfigError| FieldProblem {
                pointer: error.pointer(),
                detail: error.to_string(),
            };
            return errors.iter().map(problem).collect();
        }
        let pointer = match self {
            Self::Field { pointer, .. } => pointer.clone(),
            Self::UnknownEnvironment { pointer, .. } => (*pointer).to_owned(),
            // The name of a schema is in the address.
            Self::Run(RunError::Config(ConfigError::UnknownSchema { .. })) => return Vec::new(),
            Self::Run(RunError::Config(error)) => error.pointer(),
            Self::Run(RunError::Registry(_)) => "/game".to_owned(),
            Self::Run(RunError::UnknownOpponent { .. }) => "/opponent".to_owned(),
            Self::Run(RunError::IllegalMove { .. }) => "/action".to_owned(),
            Self::Run(RunError::StaleMove { .. }) => "/ply".to_owned(),
            Self::Run(RunError::BadToken { field, .. }) => format!("/{field}"),
            _ => return Vec::new(),
        };
        vec![FieldProblem { pointer, detail: self.to_string() }]
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let (status, code) = self.status();
        let request_id = request_id();
        let detail = if status == StatusCode::INTERNAL_SERVER_ERROR {
            // What happened inside is for the log; the client gets the number to find it by.
            tracing::error!(%request_id, error = %self, "a request failed");
            "the lab could not do this; its log says why".to_owned()
        } else {
            if status.is_server_error() {
                tracing::error!(%request_id, error = %self, "a request failed");
            }
            self.to_string()
        };
        let problem = Problem {
            kind: "about:blank",
            title: status.canonical_reason().unwrap_or("Error"),
            status: status.as_u16(),
            detail,
            code,
            request_id,
            errors: self.fields(),
        };
        let body = serde_json::to_vec(&problem).expect("a problem is plain data");
        let kind = [(header::CONTENT_TYPE, "application/problem+json")];
        let retry = self.retry_after().map(|seconds| [(header::RETRY_AFTER, seconds.to_string())]);
        match retry {
            Some(retry) => (status, kind, retry, body).into_response(),
            None => (status, kind, body).into_response(),
        }
    }
}

tokio::task_local! {
    static REQUEST_ID: String;
}

/// The number of the request that is being answered.
pub(crate) fn request_id() -> String {
    REQUEST_ID.try_with(Clone::clone).unwrap_or_default()
}

/// Answers as part of the request with this number, in whatever task.
pub(crate) async fn in_request<T>(id: String, answer: impl Future<Output = T>) -> T {
    REQUEST_ID.scope(id, answer).await
}

/// Gives every request a number, which its problem, its log lines and its answer carry.
pub async fn with_request_id(request: Request, next: Next) -> Response {
    let id = secret::random_hex()[..12].to_owned();
    // Without the query: a login code has no place in a log.
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let started = Instant::now();
    let mut response = REQUEST_ID.scope(id.clone(), next.run(request)).await;
    let status = response.status().as_u16();
    tracing::debug!(request_id = %id, %method, path, status, took = ?started.elapsed(), "request");
    let value = HeaderValue::from_str(&id).expect("hexadecimal digits are fine in a header");
    response.headers_mut().insert("x-request-id", value);
    response
}
