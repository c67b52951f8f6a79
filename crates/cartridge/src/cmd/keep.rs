//! `cartridge archive`, `unarchive`, `delete`, `restore`, `pin`, `unpin`: what is kept, and where.

use cartridge_run::RunError;
use cartridge_run::steer::{self, By};
use cartridge_run::store::{DataDir, RunId};

use super::{control, say, say_json, user};
use crate::exit::Exit;

/// Keep a run, or one of its checkpoints, from whatever makes room
#[derive(Debug, clap::Args)]
pub(crate) struct PinArgs {
    #[command(flatten)]
    on: control::Args,
    /// One of its checkpoints: latest, best, a folder, or a number of steps
    #[arg(long, value_name = "NAME")]
    checkpoint: Option<String>,
}

pub(crate) fn archive(args: &control::Args, is_archived: bool) -> anyhow::Result<Exit> {
    let said = if is_archived { "is put away" } else { "is back in the list" };
    act(args, said, |data, id| Ok(steer::archive(data, id, is_archived, By::new(&user()))?))
}

pub(crate) fn pin(args: &PinArgs, is_pinned: bool) -> anyhow::Result<Exit> {
    let said = if is_pinned { "is kept" } else { "need not be kept" };
    act(&args.on, said, |data, id| {
        Ok(steer::pin(data, id, args.checkpoint.as_deref(), is_pinned, By::new(&user()))?)
    })
}

pub(crate) fn delete(args: &control::Args) -> anyhow::Result<Exit> {
    act(args, "is in the trash; `cartridge restore` brings it back within 7 days", |data, id| {
        let (manifest, status) = steer::look(data, id)?;
        Ok(steer::delete(data, &manifest, &status, By::new(&user()))?)
    })
}

pub(crate) fn restore(args: &control::Args) -> anyhow::Result<Exit> {
    act(args, "is back", |data, id| {
        steer::restore(data, id, By::new(&user()))?;
        Ok(())
    })
}

fn act(
    args: &control::Args,
    said: &str,
    act: impl FnOnce(&DataDir, &RunId) -> anyhow::Result<()>,
) -> anyhow::Result<Exit> {
    let data = args.data.open_existing()?;
    let id: RunId = args.run.parse().map_err(RunError::from)?;
    act(&data, &id)?;
    if args.json {
        say_json(&serde_json::json!({ "run_id": id }));
    } else {
        say(&format!("{id} {said}"));
    }
    Ok(Exit::Ok)
}
