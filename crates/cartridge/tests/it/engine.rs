//! The engine as another program meets it: a gRPC client against the real process.

use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::process::{Child, Stdio};

use cartridge_engine::service::{MAX_BATCH, MAX_MESSAGE_BYTES};
use cartridge_engine::v1::engine_client::EngineClient;
use cartridge_engine::v1::step_outcome::Outcome;
use cartridge_engine::v1::{
    Cartridge, GetCapabilitiesRequest, ResetRequest, StepBatchRequest, StepItem, StepRequest, View,
    action_space,
};
use cartridge_games::engine::EngineContext;
use cartridge_games::engine::state::reseal;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Request, Status};

use crate::support::{cartridge, kill, run, text};

/// An engine that is served, ended when it is dropped.
struct EngineProcess {
    child: Child,
    address: String,
}

impl EngineProcess {
    fn start(token: Option<&str>) -> Self {
        let mut command = cartridge(&["engine", "serve", "--address", "127.0.0.1:0", "--json"]);
        if let Some(token) = token {
            command.env("CARTRIDGE_TOKEN", token);
        }
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let listening: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!(listening["token"], token.is_some());
        Self { child, address: listening["address"].as_str().unwrap().to_owned() }
    }

    async fn client(&self) -> EngineClient<Channel> {
        let endpoint = Endpoint::from_shared(format!("http://{}", self.address)).unwrap();
        EngineClient::new(endpoint.connect().await.unwrap())
    }

    /// Ends the engine as Ctrl-C does and returns its exit code.
    fn interrupt(mut self) -> Option<i32> {
        kill("-INT", self.child.id().into());
        self.child.wait().unwrap().code()
    }
}

impl Drop for EngineProcess {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

fn of(id: &str) -> Option<Cartridge> {
    Some(Cartridge { id: id.to_owned(), options_json: String::new() })
}

fn step(id: &str, state: &[u8], action: u32) -> StepRequest {
    let action = action.to_le_bytes().to_vec();
    StepRequest { cartridge: of(id), state: state.to_vec(), action }
}

/// Runs the conversation to its end.
fn talk(conversation: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(conversation);
}

async fn reset(client: &mut EngineClient<Channel>, id: &str, seed: u64) -> View {
    let request = ResetRequest { cartridge: of(id), seed, hint: Vec::new() };
    client.reset(request).await.unwrap().into_inner().view.unwrap()
}

#[track_caller]
fn check<T: std::fmt::Debug>(answer: Result<T, Status>, code: Code, message: &str) {
    let status = answer.expect_err("it is refused");
    assert_eq!((status.code(), status.message()), (code, message));
}

#[test]
fn the_engine_is_served_to_a_client() {
    let engine = EngineProcess::start(None);
    talk(async {
        let mut client = engine.client().await;
        let facts = client.get_capabilities(GetCapabilitiesRequest { cartridge: of("connect4") });
        let facts = facts.await.unwrap().into_inner();
        assert_eq!((facts.id.as_str(), facts.version, facts.seats), ("connect4", 1, 2));
        assert_eq!(facts.action_space.unwrap().kind, Some(action_space::Kind::Discrete(7)));
        assert_eq!((facts.max_horizon, facts.planes_shape), (42, vec![2, 6, 7]));
        assert_eq!(facts.state.unwrap().name, "cartridge-position");

        // A whole game and a whole episode, the same as in this process.
        for (id, actions) in
            [("connect4", &[3, 2, 3, 2, 3, 2, 3][..]), ("CartPole-v1", &[1, 1, 1, 1, 1, 1, 1, 1])]
        {
            let here = EngineContext::new(id).unwrap();
            let mut view = reset(&mut client, id, 0).await;
            assert_eq!(view.state, here.reset(0, b"").unwrap().state);
            for (index, &action) in actions.iter().enumerate() {
                let answer = client.step(step(id, &view.state, action)).await.unwrap().into_inner();
                let same = here.step(&view.state, &action.to_le_bytes()).unwrap();
                assert_eq!(answer, same.into());
                assert_eq!(answer.terminated, index + 1 == actions.len());
                view = answer.view.unwrap();
            }
            check(
                client.step(step(id, &view.state, 1)).await,
                Code::FailedPrecondition,
                "it has ended, so no action can be taken; reset to begin anew",
            );
        }

        let start = reset(&mut client, "connect4", 0).await;
        let item = |state: &[u8], action: &[u8]| StepItem {
            state: state.to_vec(),
            action: action.to_vec(),
        };
        let items = vec![
            item(&start.state, &[3, 0, 0, 0]),
            item(b"garbage", &[3, 0, 0, 0]),
            item(&start.state, &[9, 0, 0, 0]),
            item(&start.state, &[3, 0, 0, 0]),
        ];
        let batch = StepBatchRequest { cartridge: of("connect4"), items };
        let outcomes = client.step_batch(batch).await.unwrap().into_inner().outcomes;
        let alone = client.step(step("connect4", &start.state, 3)).await.unwrap().into_inner();
        let outcomes: Vec<Outcome> =
            outcomes.into_iter().map(|outcome| outcome.outcome.unwrap()).collect();
        let [
            Outcome::Step(first),
            Outcome::Error(garbage),
            Outcome::Error(action),
            Outcome::Step(last),
        ] = &outcomes[..]
        else {
            panic!("{outcomes:?}")
        };
        assert_eq!([first, last], [&alone, &alone]);
        assert_eq!([garbage.code, action.code], [Code::InvalidArgument as i32; 2]);
        assert_eq!(action.message, "bad action: action 9 is not below 7");

        let position =
            ResetRequest { cartridge: of("tictactoe"), seed: 0, hint: b"xx.\noo.\n...\n".to_vec() };
        let view = client.reset(position).await.unwrap().into_inner().view.unwrap();
        let won = client.step(step("tictactoe", &view.state, 2)).await.unwrap().into_inner();
        assert_eq!((won.rewards, won.terminated), (vec![1.0, -1.0], true));
    });
    assert_eq!(engine.interrupt(), Some(0), "Ctrl-C ends it cleanly");
}

#[test]
fn what_the_engine_cannot_do_is_a_status_with_a_reason() {
    let engine = EngineProcess::start(None);
    talk(async {
        let mut client = engine.client().await;
        let state = reset(&mut client, "connect4", 0).await.state;
        let mut newer = state.clone();
        newer[15] += 1;
        reseal(&mut newer);
        check(
            client.step(step("connect4", &newer, 3)).await,
            Code::FailedPrecondition,
            "the state is from version 2 of `connect4`, and this is version 1; reset to begin \
             anew, or step it by the version of Cartridge that made it",
        );
        check(
            client.step(step("connect4", b"garbage", 3)).await,
            Code::InvalidArgument,
            "these 7 bytes are not a state: it does not begin with `CTRG`; give a state back as \
             it was given out",
        );
        check(
            client.step(step("othello", &state, 3)).await,
            Code::InvalidArgument,
            "the state is one of `connect4`, and not of `othello`; ask `connect4` to step it",
        );
        check(
            client.step(step("conect4", &state, 3)).await,
            Code::NotFound,
            "unknown cartridge `conect4`; did you mean `connect4`?",
        );
        check(
            client.step(StepRequest::default()).await,
            Code::InvalidArgument,
            "say which cartridge is meant",
        );
        let options_json = r#"{"sutton_barto_reward": true}"#.to_owned();
        let cartridge = Some(Cartridge { id: "CartPole-v1".to_owned(), options_json });
        let request = ResetRequest { cartridge, seed: 0, hint: Vec::new() };
        let state = client.reset(request).await.unwrap().into_inner().view.unwrap().state;
        check(
            client.step(step("CartPole-v1", &state, 1)).await,
            Code::FailedPrecondition,
            "the state was made by `CartPole-v1` with other options; give the options of its reset",
        );
        let broken = Cartridge { id: "CartPole-v1".to_owned(), options_json: "[".to_owned() };
        let request = GetCapabilitiesRequest { cartridge: Some(broken) };
        let status = client.get_capabilities(request).await.unwrap_err();
        assert_eq!(status.code(), Code::InvalidArgument);
        assert!(status.message().starts_with("the options are not a JSON object"), "{status}");

        let items = vec![StepItem::default(); MAX_BATCH + 1];
        check(
            client.step_batch(StepBatchRequest { cartridge: of("connect4"), items }).await,
            Code::InvalidArgument,
            "a batch of 1025 states is too large; send at most 1024 at once",
        );
        let long = vec![0; MAX_MESSAGE_BYTES + 1];
        let status = client.step(step("connect4", &long, 3)).await.unwrap_err();
        assert_eq!(status.code(), Code::OutOfRange, "{status}");
        // And it goes on.
        reset(&mut client, "connect4", 0).await;
    });
}

#[test]
fn a_token_guards_the_engine_and_other_machines_need_one() {
    let token = "0123456789abcdef";
    let engine = EngineProcess::start(Some(token));
    talk(async {
        let mut client = engine.client().await;
        let mut call = async |authorization: Option<&str>| {
            let mut request = Request::new(GetCapabilitiesRequest { cartridge: of("connect4") });
            if let Some(value) = authorization {
                request.metadata_mut().insert("authorization", value.parse().unwrap());
            }
            client.get_capabilities(request).await
        };
        check(
            call(None).await,
            Code::Unauthenticated,
            "this engine asks for its token; send `authorization: Bearer TOKEN`",
        );
        check(
            call(Some("Bearer 0123456789abcdee")).await,
            Code::Unauthenticated,
            "this is not the token of this engine",
        );
        call(Some("Bearer 0123456789abcdef")).await.unwrap();
    });

    let folder = tempfile::tempdir().unwrap();
    let output = run(folder.path(), &["engine", "serve", "--address", "0.0.0.0:0"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        text(&output.stderr),
        "error: 0.0.0.0:0 can be reached from other machines, and the engine has no token\n\
         hint: set CARTRIDGE_TOKEN to 16 or more letters, digits and signs, or listen on 127.0.0.1\n"
    );
    let output = cartridge(&["engine", "serve"]).env("CARTRIDGE_TOKEN", "short").output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("not fit to guard the engine"));
}

#[test]
fn a_port_that_is_taken_is_said() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let output = cartridge(&["engine", "serve", "--address", &address]).output().unwrap();
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(1), String::new()));
    let message = text(&output.stderr);
    let port = taken.local_addr().unwrap().port();
    let said = format!("error: port {port} on 127.0.0.1 is taken by another program\nhint: ");
    assert!(message.starts_with(&said), "{message}");
}
