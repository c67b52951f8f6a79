//! `cartridge up`: start the lab.

use std::io::IsTerminal as _;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use cartridge_run::alert::watch;
use cartridge_run::clock::unix_now;
use cartridge_run::config::{parse_bytes, parse_cores};
use cartridge_run::launch::Launcher;
use cartridge_run::queue::Limits;
use cartridge_run::retention::LabConfig;
use cartridge_run::store::DataDir;
use cartridge_run::wandb::PATIENCE;
use cartridge_run::{Lab, janitor, secret};
use cartridge_server::AppState;
use cartridge_server::auth::{Auth, check_origin};
use cartridge_server::feed::Feed;
use cartridge_server::gate::Gate;
use cartridge_server::limits::Limits as ServerLimits;
use cartridge_server::live_frames::LiveFrames;
use cartridge_server::live_play::LivePlays;
use cartridge_server::upstream::Upstream;
use cartridge_server::webhook::Outbox;
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};

use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::prelude::*;

use super::{DataArgs, STOP_GRACE_SECONDS, VERSION, launcher, note, program_name, say};
use crate::cmd::url::login_url;
use crate::exit::Exit;
#[cfg(feature = "otel")]
use crate::otel::{self, Traces};

/// Start the lab: web app, API and everything behind them
///
/// Prints a URL that logs the browser in, once. Ctrl-C ends the lab; runs that are training go on
/// and are found again at the next start.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    data: DataArgs,
    /// Address to listen on
    #[arg(long, value_name = "IP", default_value = "127.0.0.1", env = "CARTRIDGE_BIND")]
    bind: IpAddr,
    /// Port to listen on; 0 takes any free one
    #[arg(long, default_value_t = 8080, env = "CARTRIDGE_PORT")]
    port: u16,
    /// Another host name that the lab answers to, such as the one of a proxy before it; may be repeated
    #[arg(long, value_name = "NAME")]
    allow_host: Vec<String>,
    /// Another origin whose pages may talk to the lab with a token, such as https://lab.example; may
    /// be repeated (see also server.allowed_origins in lab.json)
    #[arg(long, value_name = "ORIGIN", value_parser = origin)]
    allow_origin: Vec<String>,
    /// Seconds that a trainer may take to save and end when it is stopped, before it is killed
    #[arg(long, value_name = "SECONDS", default_value_t = STOP_GRACE_SECONDS)]
    stop_grace: u64,
    /// Runs that train at once, at most; further ones wait in a queue [default: CPU cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_runs: Option<u32>,
    /// CPU cores of all runs together, such as 4 or 1500m [default: all, or as many as --max-runs
    /// where that is more]
    #[arg(long, value_name = "CORES", value_parser = cores)]
    max_cpu: Option<f64>,
    /// Memory of all runs together, such as 8Gi [default: all]
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    max_memory: Option<u64>,
    /// GPUs of all runs together [default: those that NVIDIA's driver shows]
    #[arg(long, value_name = "N")]
    gpus: Option<u32>,
    /// Seconds that a wandb client may be silent before its run counts as crashed
    #[arg(long, value_name = "SECONDS", default_value_t = PATIENCE.as_secs(), value_parser = clap::value_parser!(u64).range(1..))]
    wandb_patience: u64,
    /// Open the page in the browser
    #[arg(long)]
    open: bool,
    /// How much the lab logs
    #[arg(long, value_enum, default_value = "info", env = "CARTRIDGE_LOG")]
    log: LogLevel,
    /// How a line of the log looks; json is for programs that collect logs
    #[arg(long, value_enum, default_value = "text", env = "CARTRIDGE_LOG_FORMAT")]
    log_format: LogFormat,
    /// A collector of OpenTelemetry that gets traces as OTLP over HTTP, such as http://127.0.0.1:4318
    #[cfg(feature = "otel")]
    #[arg(long, value_name = "URL", env = "OTEL_EXPORTER_OTLP_ENDPOINT")]
    otlp_endpoint: Option<String>,
    /// The token that opens the API, instead of the one in the data folder
    #[arg(long, hide = true, env = "CARTRIDGE_TOKEN", hide_env_values = true)]
    token: Option<String>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    start_log(args);
    raise_open_files();
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("starting the event loop")?
        .block_on(serve(args))
}

/// Lets the lab have as many open files as it may: a live reader holds one.
fn raise_open_files() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    if let Err(error) = setrlimit(Resource::Nofile, limit) {
        tracing::warn!(%error, "the limit of open files stays as it is");
    }
}

async fn serve(args: &Args) -> anyhow::Result<Exit> {
    let data = args.data.open()?;
    // The lab comes before the port: a second start on the same data should hear of the first,
    // and not of a port that some program has.
    let launcher = Launcher { is_lab: true, ..launcher(Duration::from_secs(args.stop_grace))? };
    let lab = Arc::new(Lab::open(data.clone(), launcher, limits(args))?);
    lab.set_wandb_patience(Duration::from_secs(args.wandb_patience));
    let listener = listen(SocketAddr::new(args.bind, args.port)).await?;
    let token = match args.token.as_deref().map(str::trim).filter(|token| !token.is_empty()) {
        Some(token) => token.to_owned(),
        None => secret::api_token(&data)?,
    };
    let file = data.path().join("token");
    let or_else =
        format!("or unset CARTRIDGE_TOKEN and delete {} to have one made", file.display());
    check_token(&token, "the lab", &or_else)?;
    let port = listener.local_addr().context("reading our own address")?.port();
    // A wildcard is no address that a browser can open.
    let host = match args.bind {
        ip if ip.is_unspecified() => "127.0.0.1".to_owned(),
        IpAddr::V6(ip) => format!("[{ip}]"),
        ip => ip.to_string(),
    };
    let address = format!("http://{host}:{port}");
    lab.announce(&address)?;

    let feed = Feed::new();
    let origins = origins(&data, &args.allow_origin)?;
    let auth = Arc::new(Auth::new(&data, token, args.bind, &args.allow_host, &origins)?);
    let gate = Arc::new(Gate::open(&data, ServerLimits::default())?);
    let ticker = feed.start(Arc::clone(&lab));
    let janitor = janitor::start(Arc::clone(&lab));
    let (outbox, answers) = (Outbox::open(data.clone()), Arc::clone(&gate));
    let watcher = watch::start(
        Arc::clone(&lab),
        move || answers.traffic.of_looking(),
        move |news| outbox.send(news),
    );
    let state = AppState {
        lab,
        auth,
        gate,
        feed: feed.clone(),
        plays: LivePlays::default(),
        frames: LiveFrames::default(),
        upstream: Arc::new(Upstream::new(std::env::var("WANDB_API_KEY").ok())),
        version: VERSION,
    };
    // Listened for before the URL is printed: whoever has read it may press Ctrl-C.
    let ended = Signals::new()?;
    let url = login_url(&address, &secret::new_login_code(&data, unix_now())?);
    greet(args, &data.path().display().to_string(), &url);

    let server = tokio::spawn(cartridge_server::serve(listener, state));
    ended.wait().await;
    note("ending the lab; runs that are training go on");
    feed.close();
    // Streams end at once; an answer that is under way gets a moment.
    _ = tokio::time::timeout(Duration::from_secs(3), server).await;
    _ = ticker.join();
    watcher.stop();
    janitor.stop();
    Ok(Exit::Ok)
}

fn limits(args: &Args) -> Limits {
    let machine = Limits::of_machine();
    Limits {
        runs: args.max_runs.map_or(machine.runs, |runs| runs as usize),
        // Whoever allows more runs than there are cores means it.
        cpu: args.max_cpu.unwrap_or_else(|| machine.cpu.max(f64::from(args.max_runs.unwrap_or(0)))),
        memory: args.max_memory.unwrap_or(machine.memory),
        gpu: args.gpus.unwrap_or(machine.gpu),
    }
}

fn origin(text: &str) -> Result<String, String> {
    check_origin(text).map(|()| text.to_owned())
}

/// The origins that the lab's configuration and the command line name.
fn origins(data: &DataDir, given: &[String]) -> anyhow::Result<Vec<String>> {
    let mut origins = LabConfig::read(data)?.server.allowed_origins;
    for origin in &origins {
        check_origin(origin).map_err(|error| {
            anyhow::anyhow!("server.allowed_origins in {}/lab.json: {error}", data.path().display())
        })?;
    }
    origins.extend_from_slice(given);
    Ok(origins)
}

fn cores(text: &str) -> Result<f64, String> {
    let cores = parse_cores(text).filter(|cores| *cores > 0.0);
    cores.ok_or_else(|| "write cores as 4 or 1500m".to_owned())
}

fn bytes(text: &str) -> Result<u64, String> {
    let bytes = parse_bytes(text).filter(|bytes| *bytes > 0);
    bytes.ok_or_else(|| "write memory as 8Gi, 512Mi or a number of bytes".to_owned())
}

/// Complains about a token that cannot travel in a header, or guards nothing.
pub(crate) fn check_token(token: &str, what: &str, or_else: &str) -> anyhow::Result<()> {
    if token.len() < 16 || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        anyhow::bail!(
            "the token is not fit to guard {what}\n\
             hint: use 16 or more letters, digits and signs, {or_else}"
        );
    }
    Ok(())
}

async fn listen(address: SocketAddr) -> anyhow::Result<TcpListener> {
    TcpListener::bind(address).await.map_err(|error| match error.kind() {
        std::io::ErrorKind::AddrInUse => anyhow::anyhow!(
            "port {0} on {1} is taken by another program\n\
             hint: end that program, or choose another port: {3} up --port {2} (0 takes any free one)",
            address.port(),
            address.ip(),
            address.port().saturating_add(1),
            program_name(),
        ),
        std::io::ErrorKind::PermissionDenied => anyhow::anyhow!(
            "port {} needs special rights\nhint: choose one above 1023: cartridge up --port 8080",
            address.port()
        ),
        std::io::ErrorKind::AddrNotAvailable => anyhow::anyhow!(
            "this machine has no address {}\nhint: leave --bind out for 127.0.0.1",
            address.ip()
        ),
        _ => anyhow::anyhow!("cannot listen on {address}: {error}"),
    })
}

fn greet(args: &Args, data: &str, url: &str) {
    say(&format!("Cartridge {VERSION} is up, with its data in {data}"));
    say("");
    say(&format!("  Open {url}"));
    say("");
    let program = program_name();
    say(&format!(
        "The link logs one browser in, once; `{program} url` makes another. Ctrl-C ends the lab."
    ));
    if !args.bind.is_loopback() {
        note(&format!(
            "note: listening on {} beyond this machine; a token is needed for everything, and there is \
             no TLS: put a proxy with TLS before it, or others can read along",
            args.bind
        ));
        if args.allow_host.is_empty() && args.bind.is_unspecified() {
            note("note: name the address that others use with --allow-host, or they are refused");
        }
    }
    if args.open && !open_browser(url) {
        note("note: no browser could be opened; open the link yourself");
    }
}

fn open_browser(url: &str) -> bool {
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    std::process::Command::new(program)
        .arg(url)
        // What only this process needs.
        .env_remove("WANDB_API_KEY")
        .env_remove("CARTRIDGE_TOKEN")
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .is_ok()
}

/// The signals that end what is served.
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    pub(crate) fn new() -> anyhow::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt()).context("listening for Ctrl-C")?,
            terminate: signal(SignalKind::terminate()).context("listening for SIGTERM")?,
        })
    }

    pub(crate) async fn wait(mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

/// What the lab logs.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum LogLevel {
    Error,
    Warn,
    Info,
    Debug,
}

/// How a line of the log looks.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum LogFormat {
    Text,
    Json,
}

fn start_log(args: &Args) {
    let level = match args.log {
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
    };
    let colours = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let ours = Targets::new().with_target("cartridge", level).with_default(LevelFilter::WARN);
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    let registry = tracing_subscriber::registry();
    #[cfg(feature = "otel")]
    let registry = registry.with(args.otlp_endpoint.as_deref().map(|endpoint| {
        let traced = Targets::new().with_target(otel::TARGET, LevelFilter::INFO);
        Traces::open(endpoint, VERSION).with_filter(traced)
    }));
    match args.log_format {
        LogFormat::Text => registry.with(lines.with_ansi(colours).with_filter(ours)).init(),
        LogFormat::Json => registry.with(lines.json().flatten_event(true).with_filter(ours)).init(),
    }
}
