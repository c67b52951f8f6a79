"""Ends processes at every sync and rename they make, and refuses every kind of write, one by one.

Nothing in the product knows of this: `strace` injects the faults into the real binary. For each
place a fresh run is started, hit there, and started again; what it ends with must be what it ends
with undisturbed, and `fsck`, `reindex` and `audit verify` must have nothing to say.

Usage: benches/failpoints.sh [--every 1] > benches/results/failpoints.txt
"""

import argparse
import http.client
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BINARY = ROOT / "target/release/cartridge"
SYNCS = "fsync,fdatasync,rename,renameat,renameat2,linkat,ftruncate"
WRITES = "write,pwrite64,fsync,fdatasync,rename,renameat,renameat2,mkdir"
TRAINING = ["CartPole-v1", "--steps", "10000", "--seed", "3", "--set", "retention.checkpoint_every_steps=4000"]


def cartridge(*args, check=True):
    done = subprocess.run([BINARY, *map(str, args)], capture_output=True, text=True, timeout=120)
    if check and done.returncode != 0:
        raise Fault(f"`cartridge {args[0]}` ended with {done.returncode}: {done.stdout}{done.stderr}")
    return done


class Fault(Exception):
    """Something that was lost, doubled, or not said."""


class Template:
    """A run that was made and not started, and what it ends with undisturbed."""

    def __init__(self, folder):
        self.folder = folder
        done = cartridge("train", *TRAINING, "--data", folder, "--json")
        result = json.loads(done.stdout.splitlines()[-1])
        self.run, self.weights = result["run_id"], result["weights_sha256"]

    def fresh(self, data):
        place = data / "runs" / self.run
        place.mkdir(parents=True)
        shutil.copy(self.folder / "runs" / self.run / "run.json", place)
        for name in ("format", "key"):
            shutil.copy(self.folder / name, data)


def traced(inject, command):
    """Runs a command with everything that it starts, with faults put in; says whether one was hit."""
    with tempfile.NamedTemporaryFile() as log:
        names = inject.split(":")[0]
        subprocess.run(
            ["strace", "-f", "-qq", "-o", log.name, "-e", f"trace={names}", "-e", f"inject={inject}", *map(str, command)],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120,
        )
        text = log.read().decode(errors="replace")
    return "INJECTED" in text or "killed by SIGKILL" in text


def lines(path):
    return [json.loads(line) for line in path.read_bytes().split(b"\n")[:-1]] if path.exists() else []


def ended(data, run):
    """How the run ended, if its newest attempt has."""
    journal = lines(data / "runs" / run / "supervisor.jsonl")
    return journal[-1] if journal and journal[-1]["type"] == "exited" else None


def go_on(data, run):
    """Starts the run again until it has taken all its steps."""
    for _ in range(5):
        done = [line for line in lines(data / "runs" / run / "events.jsonl") if line["type"] == "done"]
        if done and done[-1]["reason"] == "completed" and ended(data, run):
            return done[-1]["weights_sha256"]
        before = len(lines(data / "runs" / run / "supervisor.jsonl"))
        asked = cartridge("resume", run, "--data", data, check=False)
        if asked.returncode != 0 and "already" not in asked.stderr:
            raise Fault(f"cannot go on: {asked.stderr.strip()}")
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            if len(lines(data / "runs" / run / "supervisor.jsonl")) > before and ended(data, run):
                break
            time.sleep(0.02)
        else:
            raise Fault("the next attempt does not end")
    raise Fault("five attempts were not enough")


def inspect(data, run):
    """What must hold after everything."""
    rows = lines(data / "runs" / run / "metrics.jsonl")
    last, kept = 0, {}
    for row in rows:
        kept[row["row"]] = row["step"]
        last = row["row"]
    if sorted(kept) != list(range(1, last + 1)) or list(dict(sorted(kept.items())).values()) != sorted(kept.values()):
        raise Fault("metric rows are missing or out of order")
    cartridge("fsck", "--repair", "--data", data)
    cartridge("fsck", "--data", data)
    cartridge("audit", "verify", "--data", data)
    cartridge("reindex", "--data", data)


def trial(template, inject):
    """One fault in one fresh run; says whether it was hit."""
    data = pathlib.Path(tempfile.mkdtemp(prefix="cartridge-fail-"))
    try:
        template.fresh(data)
        supervise = [BINARY, "supervise", "--data", data, "--run", template.run, "--attempt", "1", "--stop-grace", "5"]
        is_hit = traced(inject, supervise)
        if go_on(data, template.run) != template.weights:
            raise Fault("the weights are others than undisturbed")
        inspect(data, template.run)
        return is_hit
    finally:
        shutil.rmtree(data, ignore_errors=True)


def lab_trial(folder, runs, inject):
    """One fault in a lab that takes in runs; afterwards it must know all of them."""
    data = pathlib.Path(tempfile.mkdtemp(prefix="cartridge-fail-"))
    try:
        shutil.copytree(folder, data, dirs_exist_ok=True)
        with tempfile.NamedTemporaryFile() as log:
            lab = subprocess.Popen(
                ["strace", "-f", "-qq", "-o", log.name, "-e", f"trace={inject.split(':')[0]}", "-e", f"inject={inject}",
                 str(BINARY), "up", "--port", "0", "--data", str(data)],
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
            )
            try:
                lab.wait(timeout=1.5)
            except subprocess.TimeoutExpired:
                subprocess.run(["pkill", "-KILL", "-s", str(lab.pid)], check=False)
                lab.wait()
            text = log.read().decode(errors="replace")
        known = ask_lab(data)
        if set(known) != set(runs):
            raise Fault(f"the lab knows {len(known)} of {len(runs)} runs")
        if known != runs:
            raise Fault("the lab tells other figures than undisturbed")
        cartridge("audit", "verify", "--data", data)
        return "INJECTED" in text or "+++ killed" in text
    finally:
        shutil.rmtree(data, ignore_errors=True)


def ask_lab(data):
    """What a lab says of all runs: state, steps and the metrics."""
    lab = subprocess.Popen(
        [BINARY, "up", "--port", "0", "--data", data], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        for line in lab.stdout:
            if "Open " in line:
                address = line.split("Open http://")[1].split("/login")[0]
                break
        token = (data / "token").read_text().strip()

        def get(path):
            connection = http.client.HTTPConnection(address, timeout=20)
            connection.request("GET", path, headers={"Authorization": f"Bearer {token}"})
            return json.loads(connection.getresponse().read())

        deadline = time.monotonic() + 20
        while True:
            runs = get("/api/runs?limit=500")["runs"]
            if all(run["state"] == "succeeded" for run in runs) or time.monotonic() > deadline:
                break
            time.sleep(0.1)
        return {
            run["id"]: (run["state"], run["step"], run["episodes"], json.dumps(get(f"/api/runs/{run['id']}/metrics")))
            for run in runs
        }
    finally:
        lab.kill()
        lab.wait()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--every", type=int, default=1, help="take every n-th place only")
    parser.add_argument("--writes", type=int, default=1, help="take every n-th write only of those that are refused")
    args = parser.parse_args()
    faults = []

    def enumerate_places(name, step, attempt):
        place = n_hit = 0
        begun = time.monotonic()
        while True:
            place += step
            try:
                if not attempt(place):
                    break
                n_hit += 1
            except Fault as fault:
                faults.append(f"{name}, place {place}: {fault}")
                n_hit += 1
                if len(faults) > 20:
                    break
            print(f"{name}: {n_hit}", file=sys.stderr, end="\r")
        print(f"{name:54} {n_hit:4} places, {time.monotonic() - begun:5.0f} s")

    folder = pathlib.Path(tempfile.mkdtemp(prefix="cartridge-fail-"))
    try:
        template = Template(folder)
        enumerate_places(
            "trainer and supervisor killed at each sync or rename", args.every,
            lambda place: trial(template, f"{SYNCS}:signal=KILL:when={place}"),
        )
        for error in ("ENOSPC", "EROFS", "EIO"):
            enumerate_places(
                f"{error} from a write on, for good", args.writes,
                lambda place, error=error: trial(template, f"{WRITES}:error={error}:when={place}+"),
            )
        cartridge("train", *TRAINING[:-2], "--data", folder)
        runs = ask_lab(folder)
        for name in ("cartridge.db", "cartridge.db-wal", "cartridge.db-shm", "lab.lock"):
            (folder / name).unlink(missing_ok=True)
        enumerate_places(
            "lab killed at each sync, rename or page of its index", args.every,
            lambda place: lab_trial(folder, runs, f"{SYNCS},pwrite64:signal=KILL:when={place}"),
        )
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    for fault in faults:
        print(f"FAULT  {fault}")
    print("result " + ("said and survived at every place" if not faults else "FAILED"))
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
