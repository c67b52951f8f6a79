#!/usr/bin/env python3
"""A small trainer without dependencies that speaks Cartridge's protocol (docs/protocol.md).

It learns to walk along a corridor by tabular Q-learning, and shows everything that a trainer can
say and obey. Run it as a run of the lab, or see how it speaks:

    cartridge exec --env Corridor-v0 --name "first steps" -- python3 minimal_trainer.py
    cartridge protocol check --exercise -- python3 minimal_trainer.py

The options at the end of the list misbehave on purpose; the tests of the lab use them.
"""

import argparse
import hashlib
import json
import math
import os
import queue
import random
import signal
import socket
import subprocess
import sys
import threading
import time

LENGTH = 8  # Cells of the corridor; the goal is the last.
MAX_STEPS = 64  # An episode is cut short after so many steps.


class Lab:
    """What the lab is told, and what it asks."""

    def __init__(self, use_socket):
        self.run_dir = os.environ.get("CARTRIDGE_RUN_DIR", ".")
        self.attempt = int(os.environ.get("CARTRIDGE_ATTEMPT", "1"))
        self.out = sys.stdout
        if use_socket:
            connection = socket.socket(socket.AF_UNIX)
            connection.connect(os.environ["CARTRIDGE_EVENTS"])
            self.out = connection.makefile("w")
        self.asked = queue.SimpleQueue()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self):
        for line in sys.stdin:
            try:
                self.asked.put(json.loads(line))
            except ValueError:
                pass  # Not for us.

    def say(self, kind, **fields):
        self.out.write(json.dumps({"type": kind, **fields}) + "\n")

    def flush(self):
        self.out.flush()

    def acknowledge(self, control, step, **fields):
        if control["seq"]:  # Number 0 is the lab's own: a limit was reached.
            self.say("control_ack", seq=control["seq"], step=step, **fields)
            self.flush()


def finite(value):
    """A number as the protocol wants it: one that is not finite says so."""
    if math.isfinite(value):
        return {"value": value}
    word = "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    return {"value": None, "nonfinite": word}


class Trainer:
    def __init__(self, args):
        self.args = args
        self.lab = Lab(args.socket)
        self.learning_rate = args.learning_rate
        self.rng = random.Random(args.seed)
        self.values = [[0.0, 0.0] for _ in range(LENGTH)]
        self.step = 0
        self.episode = 0
        self.is_paused = False
        self.is_stopped = False
        self.last_heartbeat = 0.0
        self.frames_per_second = 0.0  # Nobody watches.
        self.last_frame = 0.0
        # What a fork changes, and what was tuned before a restart, is not in our arguments.
        overrides = json.loads(os.environ.get("CARTRIDGE_OVERRIDES", "{}"))
        self.learning_rate = overrides.get("trainer.learning_rate", self.learning_rate)

    # --- Checkpoints: written beside and renamed, so that none is ever half there.

    def save(self):
        name = f"step_{self.step:09d}"
        folder = os.path.join(self.lab.run_dir, "checkpoints", name)
        os.makedirs(folder, exist_ok=True)
        state = {"step": self.step, "episode": self.episode, "values": self.values}
        text = json.dumps(state).encode()
        beside = os.path.join(folder, "q.json.new")
        with open(beside, "wb") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, os.path.join(folder, "q.json"))
        digest = hashlib.sha256(text).hexdigest()
        self.lab.say("checkpoint", step=self.step, path=f"checkpoints/{name}", sha256=digest)
        self.lab.flush()

    def restore(self):
        """Goes on from the checkpoint that the lab names: our newest, or that of a fork's parent."""
        folder = os.environ.get("CARTRIDGE_RESUME_FROM")
        if not folder:
            return None
        with open(os.path.join(folder, "q.json"), "rb") as file:
            state = json.load(file)
        self.step, self.episode, self.values = state["step"], state["episode"], state["values"]
        return {"path": os.path.relpath(folder, self.lab.run_dir), "step": self.step}

    # --- Control: obeyed between two steps, and acknowledged when it has taken effect.

    def obey(self):
        while not self.lab.asked.empty():
            self.obey_one(self.lab.asked.get())
        while self.is_paused and not self.is_stopped:
            self.beat()
            try:
                self.obey_one(self.lab.asked.get(timeout=0.2))
            except queue.Empty:
                pass

    def obey_one(self, control):
        command = control["command"]
        if command == "pause":
            self.is_paused = True
        elif command == "resume":
            self.is_paused = False
        elif command in ("stop", "terminate"):
            self.is_stopped = True
        elif command == "checkpoint":
            self.save()
        elif command == "tune" and control["path"] == "trainer.learning_rate":
            self.save()  # Whatever comes of it, there is a way back.
            old, self.learning_rate = self.learning_rate, control["value"]
            self.lab.acknowledge(control, self.step, old=old)
            return
        elif command == "watch":
            self.frames_per_second = control["fps"]
        else:
            self.lab.acknowledge(control, self.step, ok=False, message=f"cannot {command}")
            return
        self.lab.acknowledge(control, self.step)

    def beat(self):
        if time.monotonic() - self.last_heartbeat >= 1.0:
            self.last_heartbeat = time.monotonic()
            self.lab.say("heartbeat", step=self.step)
            self.lab.flush()

    # --- Pictures, only while somebody watches.

    def show(self, name, step, cell, total):
        due = self.last_frame + 1.0 / max(self.frames_per_second, 1e-3)
        if self.frames_per_second <= 0 or time.monotonic() < due:
            return
        self.last_frame = time.monotonic()
        corridor = {
            "kind": "line",
            "points": [[-0.5, 0.0], [LENGTH - 0.5, 0.0]],
            "stroke": "scene_edge",
            "width": 0.1,
        }
        circle = {"kind": "circle", "stroke": None, "width": 0.0}
        goal = {**circle, "center": [LENGTH - 1, 0.5], "radius": 0.2, "fill": "scene_warm"}
        walker = {**circle, "center": [cell, 0.5], "radius": 0.4, "fill": "scene_body"}
        scene = {"view": [-1, -1, LENGTH, 2], "shapes": [corridor, goal, walker]}
        self.lab.say("frame", episode_id=name, step=step, reward=total, scene=scene)
        self.lab.flush()

    # --- Learning.

    def play(self):
        """One episode; each of its steps is told."""
        self.episode += 1
        name, cell, total, n_steps = str(self.episode), 0, 0.0, 0
        ended = False
        while not ended and not self.is_stopped:
            explore = self.rng.random() < 0.1
            values = self.values[cell]
            action = self.rng.randrange(2) if explore else int(values[1] >= values[0])
            after = max(0, cell + (1 if action else -1))
            terminated = after == LENGTH - 1
            reward = 1.0 if terminated else -0.01
            best = 0.0 if terminated else max(self.values[after])
            error = reward + 0.95 * best - values[action]
            values[action] += self.learning_rate * error
            n_steps += 1
            self.step += 1
            total += reward
            truncated = not terminated and n_steps == MAX_STEPS
            self.lab.say(
                "step",
                episode_id=name,
                step=n_steps,
                action=action,
                reward=reward,
                terminated=terminated,
                truncated=truncated,
                obs={"cell": after},
                t=time.time(),
            )
            cell, ended = after, terminated or truncated
            self.show(name, n_steps, cell, total)
            self.obey()
            self.misbehave()
        if ended:
            self.lab.say(
                "episode",
                episode_id=name,
                steps=n_steps,
                t_end=time.time(),
                seed=self.args.seed,
                terminated=terminated,
                truncated=truncated,
                **{"return": total},
            )
            self.lab.say(
                "metrics",
                step=self.step,
                values={"train/loss": error * error, "train/learning_rate": self.learning_rate},
            )
            self.lab.say(
                "metric", name="train/value", step=self.step, **finite(max(self.values[0]))
            )
        self.lab.flush()

    def train(self):
        args = self.args
        restored = self.restore()
        self.lab.say(
            "config",
            run_id=os.environ.get("CARTRIDGE_RUN_ID"),
            algo="q-learning",
            env_id=os.environ.get("CARTRIDGE_ENV_ID", "Corridor-v0"),
            seed=args.seed,
            total_timesteps=args.steps,
            capabilities=[
                "pause",
                "resume",
                "stop",
                "terminate",
                "checkpoint",
                "tune",
                "restore",
                "frames",
            ],
            overrides_whitelist=["trainer.learning_rate"],
            args={"learning_rate": self.learning_rate},
            **({"restored": restored} if restored else {}),
        )
        self.lab.say("log", level="info", message=f"a corridor of {LENGTH} cells")
        self.lab.flush()
        next_checkpoint = self.step + args.checkpoint_every
        while self.step < args.steps and not self.is_stopped:
            self.play()
            self.beat()
            self.obey()
            if self.step >= next_checkpoint:
                next_checkpoint += args.checkpoint_every
                self.save()
            time.sleep(args.delay)
        self.save()
        self.report()
        reason = "stopped" if self.is_stopped else "completed"
        self.lab.say("done", reason=reason, step=self.step)
        self.lab.flush()

    def report(self):
        """A file of our own, which the lab keeps with the run."""
        folder = os.path.join(self.lab.run_dir, "report")
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "values.csv"), "w") as file:
            file.write("cell,left,right\n")
            for cell, (left, right) in enumerate(self.values):
                file.write(f"{cell},{left},{right}\n")
        self.lab.say("artifacts", values="report/values.csv")

    # --- What a trainer should not do. The lab survives all of it.

    def misbehave(self):
        args, out = self.args, sys.stdout
        if args.noise:
            print(f"step {self.step}: a print that is no event")
        if args.nan and self.step % 10 == 0:
            # As Python writes it by itself, and as the protocol wants it.
            self.lab.say("metric", name="train/nan", value=float("nan"), step=self.step)
            self.lab.say("metric", name="train/inf", step=self.step, **finite(math.inf))
        if args.garbage and self.step % 10 == 0:
            out.flush()
            out.buffer.write(b"\xff\xfe not UTF-8 \x00\n")
            out.buffer.write(b'{"type":"metric","name":"half"\n')
            out.buffer.write(b'{"type":"metric","name":"text","value":"0.5","step":1}\n')
            out.buffer.write(b"{'type': 'metric', 'name': 'a repr', 'value': 1}\n")
            out.buffer.write(b'{"type":"no such type","x":1}\n')
            out.buffer.write(b'{"hello":"world"}\n')
            out.buffer.write(b"\n")
            out.buffer.flush()
        if args.crash_at and self.step >= args.crash_at:
            for idx in range(30):
                print(f"last words {idx}", file=sys.stderr)
            sys.stderr.flush()
            self.lab.flush()
            sys.exit(args.crash_code)


def stray():
    """A child in a session of its own that does not listen, as daemons are."""
    program = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('deaf', flush=True); time.sleep(3600)"
    child = subprocess.Popen(
        [sys.executable, "-c", program],
        start_new_session=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    child.stdout.readline()
    print(f"stray {child.pid}", flush=True)


def flood(n_lines):
    """Metrics and steps as fast as Python writes them, five to two."""
    lab = Lab(False)
    metrics = [f'{{"type":"metric","name":"flood/{i}","value":0.5,"step":%d}}\n' for i in range(5)]
    step = (
        '{"type":"step","episode_id":"%d","step":%d,"action":1,"reward":1.0,'
        '"terminated":false,"truncated":false}\n'
    )
    text = []
    for idx in range(n_lines // 7):
        text.extend(line % idx for line in metrics)
        text.append(step % (idx // 500, 2 * idx))
        text.append(step % (idx // 500, 2 * idx + 1))
        if len(text) > 5000:
            lab.out.write("".join(text))
            text.clear()
    lab.out.write("".join(text))
    lab.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--steps", type=int, default=2_000, help="environment steps")
    seed = int(os.environ.get("CARTRIDGE_SEED", "0"))
    parser.add_argument("--seed", type=int, default=seed)
    parser.add_argument("--learning-rate", type=float, default=0.1)
    parser.add_argument("--checkpoint-every", type=int, default=1_000, help="environment steps")
    parser.add_argument("--delay", type=float, default=0.01, help="seconds after an episode")
    parser.add_argument("--socket", action="store_true", help="speak by CARTRIDGE_EVENTS")
    bad = parser.add_argument_group("misbehaviour, for tests")
    bad.add_argument("--noise", action="store_true", help="print between the lines")
    bad.add_argument("--garbage", action="store_true", help="write what is no protocol")
    bad.add_argument("--nan", action="store_true", help="send numbers that are not finite")
    bad.add_argument("--crash-at", type=int, default=0, metavar="STEP")
    bad.add_argument("--crash-code", type=int, default=3)
    bad.add_argument("--ignore-term", action="store_true", help="ignore stop and SIGTERM")
    bad.add_argument("--stray", action="store_true", help="start a process that gets away")
    bad.add_argument("--half-line", action="store_true", help="end without a newline")
    bad.add_argument("--flood", type=int, default=0, metavar="LINES")
    args = parser.parse_args()
    if args.flood:
        flood(args.flood)
        return
    if args.ignore_term:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        Lab(False).say("config", algo="deaf")
        sys.stdout.flush()
        while True:
            time.sleep(0.1)
    if args.stray:
        stray()
    trainer = Trainer(args)
    trainer.train()
    if args.half_line:
        sys.stdout.write('{"type":"metric","name":"half_line","value":42,"step":%d}' % trainer.step)
        sys.stdout.flush()


if __name__ == "__main__":
    main()
