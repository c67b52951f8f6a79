"""`cartridge-rl import FOLDER`: a training that was written to a spool folder becomes a run."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from cartridge_rl.channel import find_program


def import_spool(folder: Path, data: str | None) -> int:
    """Makes a run whose trainer tells again what is in the folder."""
    program = find_program()
    if program is None:
        print("the program `cartridge` is not found; CARTRIDGE_BIN names it", file=sys.stderr)
        return 1
    about = json.loads((folder / "spool.json").read_text())
    command = [program, "exec", "--env", about["env_id"], "--name", about["name"]]
    if about.get("seed") is not None:
        command += ["--seed", str(about["seed"])]
    if data is not None:
        command += ["--data", data]
    command += ["--", sys.executable, "-m", "cartridge_rl", "tell", str(folder.absolute())]
    return subprocess.run(command, check=False).returncode


def tell(folder: Path) -> int:
    """The trainer of such a run: copies the checkpoints and writes the lines."""
    run_dir = Path(os.environ["CARTRIDGE_RUN_DIR"])
    if (folder / "checkpoints").is_dir():
        shutil.copytree(folder / "checkpoints", run_dir / "checkpoints", dirs_exist_ok=True)
    with (folder / "lines.jsonl").open("rb") as file:
        shutil.copyfileobj(file, sys.stdout.buffer)
    sys.stdout.flush()
    try:
        return int(json.loads((folder / "exit.json").read_text())["exit"])
    except (OSError, ValueError, KeyError):
        print("the training ended without a word", file=sys.stderr)
        return 1


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(prog="cartridge-rl", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    take = commands.add_parser("import", help="make a run of a spool folder")
    take.add_argument("folder", type=Path)
    take.add_argument("--data", help="folder for everything the lab keeps")
    say = commands.add_parser("tell", help="what the run of an imported folder does")
    say.add_argument("folder", type=Path)
    args = parser.parse_args()
    sys.exit(
        import_spool(args.folder, args.data) if args.command == "import" else tell(args.folder)
    )


if __name__ == "__main__":
    main()
