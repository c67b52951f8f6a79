"""What a training leaves in its working folder, by the habits of CleanRL and its kin."""

from __future__ import annotations

from pathlib import Path

# Films that are named one by one.
MAX_VIDEOS = 100


def artifacts_of(run_name: str, folder: Path | None = None) -> dict[str, str]:
    """The films in `videos/<run_name>/`, the TensorBoard folder `runs/<run_name>/` and the W&B run
    that `wandb/latest-run` points to, as the fields of an `artifacts` line. What is not there is
    not named. Paths are relative to `folder`, which is the working folder unless it is given."""
    folder = folder or Path.cwd()
    found = {}
    videos = sorted((folder / "videos" / run_name).glob("*.mp4"))[:MAX_VIDEOS]
    for idx, video in enumerate(videos):
        found["video" if idx == 0 else f"video_{idx + 1}"] = video.relative_to(folder).as_posix()
    events = folder / "runs" / run_name
    if any(events.glob("events.out.tfevents.*")):
        found["tensorboard"] = events.relative_to(folder).as_posix() + "/"
    # A link to the folder of the run, in whose name is its id.
    latest = folder / "wandb" / "latest-run"
    if latest.is_dir() and latest.resolve().parent == (folder / "wandb").resolve():
        found["wandb"] = f"wandb/{latest.resolve().name}/"
    return found
