//! `cartridge engine`: the rules of every cartridge for other programs.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::Context as _;
use serde::Serialize;
use tokio::net::TcpListener;

use super::up::{Signals, check_token};
use super::{note, program_name, say, say_json};
use crate::exit::Exit;

/// Serve the rules of every game and environment to other programs
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Serve the engine over gRPC: Reset, Step, StepBatch and GetCapabilities
    ///
    /// The service is `cartridge.engine.v1.Engine` and keeps no sessions: a state is bytes that
    /// the caller holds. With CARTRIDGE_TOKEN in the environment every call must carry it as
    /// `authorization: Bearer TOKEN`; without, the engine listens on this machine only. There is no
    /// encryption. Ctrl-C ends it.
    Serve(ServeArgs),
}

#[derive(Debug, clap::Args)]
struct ServeArgs {
    /// Address and port to listen on; port 0 takes any free one
    #[arg(long, value_name = "IP:PORT", default_value = "127.0.0.1:50051")]
    address: SocketAddr,
    /// Print the address as a JSON object
    #[arg(long)]
    json: bool,
    /// The token that every call must carry
    #[arg(long, hide = true, env = "CARTRIDGE_TOKEN", hide_env_values = true)]
    token: Option<String>,
}

/// Where the engine listens.
#[derive(Debug, Serialize)]
struct Listening {
    address: SocketAddr,
    service: &'static str,
    token: bool,
}

/// How long answers that are under way may take at the end.
const GRACE: Duration = Duration::from_secs(3);

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let Command::Serve(args) = &args.command;
    // Rules keep a processor busy, so that more threads than there are would only take turns.
    let n_threads = std::thread::available_parallelism().map_or(1, usize::from);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .max_blocking_threads(n_threads)
        .build()
        .context("starting the event loop")?;
    let outcome = runtime.block_on(serve(args));
    // A long batch that nobody waits for any more must not hold the end up.
    runtime.shutdown_timeout(GRACE);
    outcome
}

async fn serve(args: &ServeArgs) -> anyhow::Result<Exit> {
    let token = args.token.as_deref().map(str::trim).filter(|token| !token.is_empty());
    if let Some(token) = token {
        check_token(
            token,
            "the engine",
            "or unset CARTRIDGE_TOKEN to listen on this machine without one",
        )?;
    } else if !args.address.ip().is_loopback() {
        note(&format!(
            "error: {} can be reached from other machines, and the engine has no token\n\
             hint: set CARTRIDGE_TOKEN to 16 or more letters, digits and signs, or listen on 127.0.0.1",
            args.address
        ));
        return Ok(Exit::Usage);
    }
    let listener = listen(args.address).await?;
    let address = listener.local_addr().context("reading our own address")?;
    // Listened for before the address is printed: whoever has read it may press Ctrl-C.
    let ended = Signals::new()?;
    let (end, end_heard) = tokio::sync::oneshot::channel();
    let service = "cartridge.engine.v1.Engine";
    if args.json {
        say_json(&Listening { address, service, token: token.is_some() });
    } else {
        say(&format!("The engine listens on {address} ({service}). Ctrl-C ends it."));
    }
    if !address.ip().is_loopback() {
        note("note: calls are not encrypted; use it in networks that you trust");
    }
    let server = cartridge_engine::serve(listener, token.map(str::to_owned), async {
        _ = end_heard.await;
    });
    let mut server = std::pin::pin!(server);
    tokio::select! {
        // It ends by itself only when it fails.
        outcome = &mut server => outcome.context("serving the engine")?,
        () = ended.wait() => {
            _ = end.send(());
            _ = tokio::time::timeout(GRACE, server).await;
        }
    }
    Ok(Exit::Ok)
}

async fn listen(address: SocketAddr) -> anyhow::Result<TcpListener> {
    TcpListener::bind(address).await.map_err(|error| match error.kind() {
        std::io::ErrorKind::AddrInUse => anyhow::anyhow!(
            "port {} on {} is taken by another program\n\
             hint: end that program, or choose another port: {} engine serve --address {} (0 takes any free one)",
            address.port(),
            address.ip(),
            program_name(),
            SocketAddr::new(address.ip(), address.port().saturating_add(1)),
        ),
        std::io::ErrorKind::PermissionDenied => anyhow::anyhow!(
            "port {} needs special rights\nhint: choose one above 1023",
            address.port()
        ),
        std::io::ErrorKind::AddrNotAvailable => anyhow::anyhow!(
            "this machine has no address {}\nhint: leave --address out for 127.0.0.1:50051",
            address.ip()
        ),
        _ => anyhow::anyhow!("cannot listen on {address}: {error}"),
    })
}
