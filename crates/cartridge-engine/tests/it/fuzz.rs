//! Throws damaged states, actions, hints, options and messages at every door of the engine.
//!
//! `make test` runs a few cases, always the same. `make fuzz SECONDS=3600` goes on for that long
//! from a new seed, which it prints; `CARTRIDGE_FUZZ_SEED` repeats it, and `CARTRIDGE_FUZZ_CASE`
//! runs one case of it alone.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use cartridge_engine::service::{EngineService, MAX_MESSAGE_BYTES};
use cartridge_engine::v1;
use cartridge_engine::v1::engine_client::EngineClient;
use cartridge_engine::v1::engine_server::EngineServer;
use cartridge_games::engine::state::reseal;
use cartridge_games::engine::{Capabilities, EngineContext, EngineError, Transition, View};
use cartridge_games::{ActionSpace, environments, games};
use fastrand::Rng;
use http_body_util::{BodyExt as _, Full};
use prost::Message;
use prost::bytes::{Buf, BufMut, Bytes};
use tonic::client::Grpc;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::codegen::http;
use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Status};
use tower::ServiceExt as _;

/// Cases of an ordinary test run: about two seconds.
const N_CASES: u64 = 20_000;
/// The samples are made anew after this many cases.
const N_CASES_PER_CORPUS: u64 = 4096;
/// Reading what nobody should have written takes no more than this.
const MAX_MEMORY_MB: u64 = 1024;

/// What is going on, for the message of a panic on any thread.
static CASE: AtomicU64 = AtomicU64::new(0);
static N_PANICS: AtomicU64 = AtomicU64::new(0);

#[test]
fn the_doors_take_anything() {
    let number = |name: &str| Some(std::env::var(name).ok()?.parse::<u64>().unwrap());
    let seconds = number("CARTRIDGE_FUZZ_SECONDS");
    let seed = number("CARTRIDGE_FUZZ_SEED")
        .unwrap_or_else(|| if seconds.is_some() { Rng::new().u64(..) } else { 7 });
    let print_panic = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        N_PANICS.fetch_add(1, Ordering::SeqCst);
        let case = CASE.load(Ordering::SeqCst);
        eprintln!("fuzz: CARTRIDGE_FUZZ_SEED={seed} CARTRIDGE_FUZZ_CASE={case} panics");
        print_panic(panic);
    }));

    let started = Instant::now();
    let is_over = |case: u64| match seconds {
        Some(seconds) => started.elapsed() >= Duration::from_secs(seconds),
        None => case >= N_CASES,
    };
    let doors = Doors::open();
    let first = number("CARTRIDGE_FUZZ_CASE");
    let mut tally: BTreeMap<&str, [u64; 2]> = BTreeMap::new();
    let mut corpus = Vec::new();
    let mut case = first.unwrap_or(0);
    while !is_over(case) {
        if corpus.is_empty() || case.is_multiple_of(N_CASES_PER_CORPUS) {
            corpus = make_corpus(&mut rng(seed, case - case % N_CASES_PER_CORPUS, 1));
        }
        CASE.store(case, Ordering::SeqCst);
        let (target, was_taken) = run_case(&doors, &corpus, &mut rng(seed, case, 0));
        assert_eq!(N_PANICS.load(Ordering::SeqCst), 0, "nothing panics, on any thread");
        let [n_cases, n_taken] = tally.entry(target).or_default();
        *n_cases += 1;
        *n_taken += u64::from(was_taken);
        case += 1;
        if first.is_some() {
            break;
        }
    }
    let memory_mb = peak_memory_mb();
    println!("fuzz: {:<10}{:>12}{:>12}", "door", "cases", "accepted");
    for (target, [n_cases, n_taken]) in &tally {
        println!("fuzz: {target:<10}{n_cases:>12}{n_taken:>12}");
    }
    println!(
        "fuzz: seed {seed}: {} cases in {:.0} s, {} panics, peak memory {memory_mb} MB",
        tally.values().map(|[n_cases, _]| n_cases).sum::<u64>(),
        started.elapsed().as_secs_f64(),
        N_PANICS.load(Ordering::SeqCst),
    );
    assert!(memory_mb < MAX_MEMORY_MB, "{memory_mb} MB is more than bytes like these can need");
}

fn rng(seed: u64, case: u64, stream: u64) -> Rng {
    let mut rng = Rng::with_seed(seed ^ (stream << 63));
    Rng::with_seed(rng.u64(..) ^ case.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// One case: which door it knocked at, and whether it was let in.
fn run_case(doors: &Doors, corpus: &[Sampled], rng: &mut Rng) -> (&'static str, bool) {
    let sampled = &corpus[rng.usize(..corpus.len())];
    let other = &corpus[rng.usize(..corpus.len())];
    match rng.u32(..100) {
        0..60 => ("step", fuzz_step(sampled, other, rng)),
        60..70 => ("hint", fuzz_hint(sampled, other, rng)),
        70..75 => ("options", fuzz_options(rng)),
        75..92 => ("message", fuzz_message(doors, sampled, other, rng)),
        92..99 => ("wire", fuzz_wire(doors, sampled, other, rng)),
        _ => ("socket", fuzz_socket(doors, rng)),
    }
}

/// A cartridge with states that it was in, and actions.
struct Sampled {
    cartridge: v1::Cartridge,
    engine: EngineContext,
    facts: Capabilities,
    steps: Vec<(Vec<u8>, Vec<u8>)>,
}

fn make_corpus(rng: &mut Rng) -> Vec<Sampled> {
    let ids = games().iter().map(|spec| spec.id).chain(environments().iter().map(|spec| spec.id));
    let with_options = [
        ("AsteroidProspector-v0", r#"{"reward":"published"}"#),
        ("LunarLander-v3", r#"{"continuous":true,"enable_wind":true}"#),
    ];
    let all = ids.map(|id| (id, "")).chain(with_options);
    all.map(|(id, options_json)| {
        let engine = make(id, options_json);
        let facts = engine.capabilities();
        let mut steps = Vec::new();
        for _ in 0..3 {
            let mut view = engine.reset(rng.u64(..), b"").unwrap();
            let n_steps = rng.usize(1..200);
            for _ in 0..n_steps {
                let action = sample_action(&facts, &view, rng);
                steps.push((view.state.clone(), action.clone()));
                if view.seat.is_none() {
                    break;
                }
                view = engine.step(&view.state, &action).unwrap().view;
            }
        }
        let cartridge = v1::Cartridge { id: id.to_owned(), options_json: options_json.to_owned() };
        Sampled { cartridge, engine, facts, steps }
    })
    .collect()
}

fn make(id: &str, options_json: &str) -> EngineContext {
    let options = if options_json.is_empty() { "{}" } else { options_json };
    EngineContext::with_options(id, &serde_json::from_str(options).unwrap()).unwrap()
}

/// An action that may be taken; any at the end.
fn sample_action(facts: &Capabilities, view: &View, rng: &mut Rng) -> Vec<u8> {
    match facts.action_space {
        ActionSpace::Discrete(n_actions) => {
            let legal: Vec<u32> =
                (0..n_actions as u32).filter(|&index| view.legal[index as usize]).collect();
            rng.choice(legal).unwrap_or(0).to_le_bytes().to_vec()
        }
        ActionSpace::Continuous { low, high } => {
            let numbers = low.iter().zip(high).map(|(low, high)| low + (high - low) * rng.f32());
            numbers.flat_map(f32::to_le_bytes).collect()
        }
    }
}

/// A state and an action, of which at least one is usually damaged.
fn damaged_step(sampled: &Sampled, other: &Sampled, rng: &mut Rng) -> (Vec<u8>, Vec<u8>) {
    let (state, action) = &sampled.steps[rng.usize(..sampled.steps.len())];
    let (other_state, other_action) = &other.steps[rng.usize(..other.steps.len())];
    let mut state = state.clone();
    let mut action = action.clone();
    if rng.u32(..10) > 0 {
        let n_header = 4 + 2 + 1 + usize::from(state[6]) + 4 + 8;
        if rng.bool() {
            // Behind the checksum, and often behind the header: what is left is the payload.
            let mut payload = state[n_header..state.len() - 8].to_vec();
            damage(&mut payload, other_state, rng);
            state.truncate(n_header);
            state.extend(payload);
            state.extend([0; 8]);
            reseal(&mut state);
        } else {
            damage(&mut state, other_state, rng);
            if rng.bool() {
                reseal(&mut state);
            }
        }
    }
    if rng.u32(..4) == 0 {
        damage(&mut action, other_action, rng);
    }
    (state, action)
}

fn fuzz_step(sampled: &Sampled, other: &Sampled, rng: &mut Rng) -> bool {
    let (state, action) = damaged_step(sampled, other, rng);
    let step = sampled.engine.step(&state, &action);
    assert_eq!(step, sampled.engine.step(&state, &action), "a step leaves no trace");
    if rng.u32(..8) == 0 {
        let v1::Cartridge { id, options_json } = &sampled.cartridge;
        assert_eq!(step, make(id, options_json).step(&state, &action), "a state says everything");
    }
    match step {
        Ok(transition) => {
            check_transition(sampled, &transition, rng);
            check_position(sampled, &state);
            true
        }
        Err(error) => {
            let message = error.to_string();
            assert!(message.len() < 2048, "an error can be read: {message}");
            false
        }
    }
}

fn check_transition(sampled: &Sampled, transition: &Transition, rng: &mut Rng) {
    let Sampled { engine, facts, .. } = sampled;
    let Transition { view, rewards, terminated, truncated, .. } = transition;
    check_view(facts, view);
    assert_eq!(rewards.len(), facts.n_seats);
    assert!(rewards.iter().all(|reward| reward.is_finite()), "{rewards:?}");
    assert_eq!(view.seat.is_none(), *terminated || *truncated, "nobody moves at the end");
    let action = sample_action(facts, view, rng);
    match engine.step(&view.state, &action) {
        Ok(next) => {
            assert!(view.seat.is_some(), "nothing follows the end");
            check_view(facts, &next.view);
        }
        Err(error) => assert_eq!((error, view.seat), (EngineError::Over, None)),
    }
}

fn check_view(facts: &Capabilities, view: &View) {
    assert!(view.state.len() <= facts.max_state_bytes);
    assert_eq!(view.observation.len(), 4 * facts.observation_size);
    for numbers in [&view.observation, &view.planes] {
        let mut numbers = numbers.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes));
        assert!(numbers.all(f32::is_finite), "what is seen is finite");
    }
    if let ActionSpace::Discrete(n_actions) = facts.action_space {
        assert_eq!(view.legal.len(), n_actions);
        assert_eq!(view.legal.contains(&true), view.seat.is_some(), "there is something to do");
    }
}

/// A board's state is the only one of its position.
fn check_position(sampled: &Sampled, state: &[u8]) {
    if sampled.facts.planes.is_some() {
        let text = &state[4 + 2 + 1 + sampled.facts.id.len() + 4 + 8..state.len() - 8];
        assert_eq!(sampled.engine.reset(0, text).unwrap().state, state);
    }
}

fn fuzz_hint(sampled: &Sampled, other: &Sampled, rng: &mut Rng) -> bool {
    let text = |sampled: &Sampled, rng: &mut Rng| {
        let state = &sampled.steps[rng.usize(..sampled.steps.len())].0;
        state[4 + 2 + 1 + sampled.facts.id.len() + 4 + 8..state.len() - 8].to_vec()
    };
    let mut hint = text(sampled, rng);
    damage(&mut hint, &text(other, rng), rng);
    let reset = sampled.engine.reset(rng.u64(..), &hint);
    if let Ok(view) = &reset {
        check_view(&sampled.facts, view);
        assert!(view.seat.is_some(), "nothing begins at the end");
        if sampled.facts.planes.is_some() {
            check_position(sampled, &view.state);
        }
    }
    reset.is_ok()
}

fn fuzz_options(rng: &mut Rng) -> bool {
    let words = ["connect4", "CartPole-v1", "AsteroidProspector-v0", "conect4", "", "\u{1F480}"];
    let mut id = words[rng.usize(..words.len())].as_bytes().to_vec();
    if rng.bool() {
        damage(&mut id, b"tictactoe", rng);
    }
    let texts = [r#"{"reward":"published"}"#, r#"{"sutton_barto_reward":true}"#, "{}", "[[[["];
    let mut options = texts[rng.usize(..texts.len())].as_bytes().to_vec();
    if rng.bool() {
        damage(&mut options, br#"{"a":1e999,"b":[null]}"#, rng);
    }
    let Ok(options) = serde_json::from_slice(&options) else { return false };
    let id = String::from_utf8_lossy(&id);
    match EngineContext::with_options(&id, &options) {
        Ok(engine) => check_view(&engine.capabilities(), &engine.reset(rng.u64(..), b"").unwrap()),
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return false;
        }
    }
    true
}

/// The path of a method and a message for it, damaged.
fn damaged_call(sampled: &Sampled, other: &Sampled, rng: &mut Rng) -> (&'static str, Vec<u8>) {
    let cartridge = Some(sampled.cartridge.clone());
    let (method, mut message) = match rng.u32(..4) {
        0 => {
            let hint = if rng.bool() { Vec::new() } else { vec![rng.u8(..); rng.usize(..9)] };
            let request = v1::ResetRequest { cartridge, seed: rng.u64(..), hint };
            ("/cartridge.engine.v1.Engine/Reset", request.encode_to_vec())
        }
        1 => {
            let (state, action) = damaged_step(sampled, other, rng);
            let request = v1::StepRequest { cartridge, state, action };
            ("/cartridge.engine.v1.Engine/Step", request.encode_to_vec())
        }
        2 => {
            let items = (0..rng.usize(..9)).map(|_| {
                let (state, action) = damaged_step(sampled, other, rng);
                v1::StepItem { state, action }
            });
            let request = v1::StepBatchRequest { items: items.collect(), cartridge };
            ("/cartridge.engine.v1.Engine/StepBatch", request.encode_to_vec())
        }
        _ => {
            let request = v1::GetCapabilitiesRequest { cartridge };
            ("/cartridge.engine.v1.Engine/GetCapabilities", request.encode_to_vec())
        }
    };
    if rng.u32(..4) > 0 {
        damage(&mut message, &other.steps[0].0, rng);
    }
    if rng.u32(..500) == 0 {
        // As much as can be said in little: a list of nothings, up to the limit and beyond.
        let nothing = &[[0x12, 0x00], [0x0a, 0x00], [0x1a, 0x01]][rng.usize(..3)];
        message.extend(nothing.repeat(rng.usize(..MAX_MESSAGE_BYTES / 2 + 64)));
    }
    (method, message)
}

/// The service in this process: its framing, its decoder, its methods.
fn fuzz_message(doors: &Doors, sampled: &Sampled, other: &Sampled, rng: &mut Rng) -> bool {
    let (method, message) = damaged_call(sampled, other, rng);
    let mut frame = vec![0];
    frame.extend((message.len() as u32).to_be_bytes());
    frame.extend(message);
    if rng.u32(..8) == 0 {
        damage(&mut frame, b"\x01\xff\xff\xff\xff", rng);
    }
    let request = http::Request::post(method)
        .header("content-type", "application/grpc")
        .body(Full::new(Bytes::from(frame)))
        .unwrap();
    let status = doors.runtime.block_on(async {
        let response = doors.server.clone().oneshot(request).await.unwrap();
        assert_eq!(response.status(), 200, "what went wrong is told in gRPC's way");
        let headers = response.headers().clone();
        let body = response.into_body().collect().await;
        let body = body.expect("an answer is whole");
        Status::from_header_map(&headers)
            .or_else(|| Status::from_header_map(body.trailers()?))
            .expect("every answer has a status")
    });
    assert!(!status.message().starts_with("the engine failed"), "{status}");
    status.code() == tonic::Code::Ok
}

/// The service behind a socket, by a client that sends any bytes for a message.
fn fuzz_wire(doors: &Doors, sampled: &Sampled, other: &Sampled, rng: &mut Rng) -> bool {
    let (method, message) = damaged_call(sampled, other, rng);
    let answer = doors.runtime.block_on(async {
        let mut client = Grpc::new(doors.channel.clone());
        client.ready().await.unwrap();
        let path = http::uri::PathAndQuery::from_static(method);
        client.unary(Request::new(message), path, AnyBytes).await
    });
    if let Err(status) = &answer {
        assert!(!status.message().starts_with("the engine failed"), "{status}");
    }
    answer.is_ok()
}

/// Bytes that are not even HTTP, after which the service must answer others.
fn fuzz_socket(doors: &Doors, rng: &mut Rng) -> bool {
    let mut bytes = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0".to_vec();
    for _ in 0..rng.usize(..4) {
        // Frames of any kind with any flags, of a length that may be a lie.
        bytes.extend([0, 0, rng.u8(..32), rng.u8(..12), rng.u8(..), 0, 0, 0, rng.u8(..6)]);
        bytes.extend((0..rng.usize(..32)).map(|_| rng.u8(..)));
    }
    if rng.bool() {
        damage(&mut bytes, b"GET / HTTP/1.1\r\n\r\n", rng);
    }
    let mut socket = TcpStream::connect(doors.address).unwrap();
    socket.set_read_timeout(Some(Duration::from_millis(2))).unwrap();
    // The other side may hang up while we talk.
    _ = socket.write_all(&bytes);
    _ = socket.read(&mut [0; 1024]);
    drop(socket);
    doors.runtime.block_on(async {
        let cartridge = v1::Cartridge { id: "tictactoe".to_owned(), options_json: String::new() };
        let request = v1::GetCapabilitiesRequest { cartridge: Some(cartridge) };
        let mut client = EngineClient::new(doors.channel.clone());
        client.get_capabilities(request).await.expect("others are not disturbed");
    });
    true
}

/// The service, in this process and behind a socket.
struct Doors {
    runtime: tokio::runtime::Runtime,
    server: EngineServer<EngineService>,
    address: SocketAddr,
    channel: Channel,
}

impl Doors {
    fn open() -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .max_blocking_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let (address, channel) = runtime.block_on(async {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            tokio::spawn(cartridge_engine::serve(listener, None, std::future::pending()));
            let endpoint = Endpoint::from_shared(format!("http://{address}")).unwrap();
            (address, endpoint.connect().await.unwrap())
        });
        Self { runtime, server: cartridge_engine::server(), address, channel }
    }
}

/// Messages as they are.
struct AnyBytes;

impl Codec for AnyBytes {
    type Encode = Vec<u8>;
    type Decode = Vec<u8>;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        Self
    }

    fn decoder(&mut self) -> Self {
        Self
    }
}

impl Encoder for AnyBytes {
    type Item = Vec<u8>;
    type Error = Status;

    fn encode(&mut self, item: Vec<u8>, out: &mut EncodeBuf<'_>) -> Result<(), Status> {
        out.put_slice(&item);
        Ok(())
    }
}

impl Decoder for AnyBytes {
    type Item = Vec<u8>;
    type Error = Status;

    fn decode(&mut self, from: &mut DecodeBuf<'_>) -> Result<Option<Vec<u8>>, Status> {
        let mut item = vec![0; from.remaining()];
        from.copy_to_slice(&mut item);
        Ok(Some(item))
    }
}

/// Changes bytes as accidents and ill-wishers do.
fn damage(bytes: &mut Vec<u8>, other: &[u8], rng: &mut Rng) {
    for _ in 0..=rng.u32(..3) {
        let (start, end) = (rng.usize(..=bytes.len()), rng.usize(..=bytes.len()));
        let range = start.min(end)..start.max(end);
        match rng.u32(..12) {
            0 | 1 if !bytes.is_empty() => {
                let at = rng.usize(..bytes.len());
                bytes[at] ^= 1 << rng.u8(..8);
            }
            2 | 10 | 11 if !bytes.is_empty() => {
                let at = rng.usize(..bytes.len());
                bytes[at] = *rng.choice(b"\0\x01\x7f\x80\xff xo.\n0123").unwrap();
            }
            3 => bytes.truncate(start),
            4 => drop(bytes.drain(range)),
            5 => {
                let twice = bytes[range].to_vec();
                bytes.splice(start..start, twice);
            }
            6 => {
                let n_bytes = rng.usize(..16);
                bytes.splice(start..start, std::iter::repeat_with(|| rng.u8(..)).take(n_bytes));
            }
            7 => {
                // The beginning of one and the end of another.
                bytes.truncate(start);
                bytes.extend(&other[rng.usize(..=other.len())..]);
            }
            8 => {
                let number: u64 = *rng.choice(&[0, 1, u64::MAX, 1 << 31, 1 << 63, 500]).unwrap();
                let number = number.to_le_bytes();
                let n_bytes = number.len().min(bytes.len() - start);
                bytes[start..start + n_bytes].copy_from_slice(&number[..n_bytes]);
            }
            _ => bytes[range].reverse(),
        }
    }
    // Copies of copies do not grow without end.
    bytes.truncate(1 << 16);
}

/// The most memory that this process has had, in MB; 0 where the system does not say.
fn peak_memory_mb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let words = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    words.unwrap_or(0) / 1024
}
