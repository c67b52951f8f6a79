"""A lab with a door for `wandb` clients, and clients in processes of their own."""

import contextlib
import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BINARY = os.environ.get("CARTRIDGE_BIN") or str(ROOT / "target/release/cartridge")


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def until(look, seconds=30, what="it"):
    """What `look` returns, once it is something."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := look():
            return found
        time.sleep(0.05)
    raise AssertionError(f"{what} did not come within {seconds} s")


class Lab:
    """A lab that can be killed and started again at the same port."""

    def __init__(self, folder, *options):
        self.folder, self.data, self.port = folder, folder / "data", free_port()
        self.options, self.process = options, None
        self.log = open(folder / "lab.log", "ab")  # noqa: SIM115
        self.start()
        self.key = self.cartridge("token", "new", "--wandb")[-1]["secret"]

    @property
    def address(self):
        return f"http://127.0.0.1:{self.port}"

    def start(self):
        command = [BINARY, "up", "--data", self.data, "--port", str(self.port), *self.options]
        self.process = subprocess.Popen(command, stdout=self.log, stderr=self.log)
        until(self.is_up, what="the lab")

    def is_up(self):
        with contextlib.suppress(OSError), urllib.request.urlopen(f"{self.address}/healthz", timeout=5):
            return True
        return False

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def cartridge(self, *args):
        command = [BINARY, *map(str, args), "--data", self.data, "--json"]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]

    def get(self, path):
        token = (self.data / "token").read_text().strip()
        request = urllib.request.Request(self.address + path, headers={"Authorization": f"Bearer {token}"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.read()

    def run(self, name):
        """The lab's own view of the newest run with a name."""
        runs = json.loads(self.get("/api/runs"))["runs"]
        return next((run for run in runs if run["name"] == name), None)

    def rows(self, run):
        lines = self.get(f"/api/runs/{run}/metrics?tail=100000").splitlines()
        return [json.loads(line) for line in lines]

    def environment(self, address=None, key=None, **more):
        """That of a client with nothing but our lab to talk to."""
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
        return {
            **kept,
            "HOME": str(home),
            "WANDB_BASE_URL": address or self.address,
            "WANDB_API_KEY": key or self.key,
            "WANDB_ERROR_REPORTING": "false",
            # Whatever else a client might call goes to a port where nobody is.
            "HTTPS_PROXY": "http://127.0.0.1:9",
            "NO_PROXY": "127.0.0.1",
            **more,
        }

    def client(self, script, *args, **options):
        """A script in a process of its own."""
        path = self.folder / f"script{random.getrandbits(32)}.py"
        path.write_text(script)
        return subprocess.Popen(
            [sys.executable, path, *map(str, args)],
            cwd=self.folder,
            env=self.environment(**options),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            # Tests that were begun in the background would hand on that Ctrl-C means nothing.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )

    def ran(self, script, *args, seconds=90, code=0, **options):
        """What a script printed."""
        client = self.client(script, *args, **options)
        said, _ = client.communicate(timeout=seconds)
        assert client.returncode == code, said
        return said

    def asked(self, script, *args):
        """The object that a script prints last; `api` is there for it."""
        script = "import json, sys, wandb\napi = wandb.Api(timeout=60)\n" + script
        return json.loads(self.ran(script, *args).splitlines()[-1])


@pytest.fixture
def make_lab(tmp_path):
    labs = []

    def make(*options):
        labs.append(Lab(tmp_path, *options))
        return labs[-1]

    yield make
    for lab in labs:
        lab.kill()
        for run in lab.cartridge("runs"):
            if run.get("state") in {"starting", "running", "stopping"}:
                subprocess.run([BINARY, "terminate", run["run_id"], "--data", lab.data], capture_output=True)


@pytest.fixture
def lab(make_lab):
    return make_lab()


class Faults:
    """Stands between client and lab, and answers some requests with 503: half of these after the
    lab has done what they ask."""

    def __init__(self, lab, share):
        self.n_faults, self.n_requests = 0, 0
        chance, count = random.Random(1), threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def pass_on(self):
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                with count:
                    outer.n_requests += 1
                    fails, late = chance.random() < share, chance.random() < 0.5
                    outer.n_faults += fails
                if fails and not late:
                    return self.answer(503, b"")
                request = urllib.request.Request(lab.address + self.path, body or None, method=self.command)
                for name, value in self.headers.items():
                    if name.lower() not in {"connection", "content-length", "accept-encoding"}:
                        request.add_header(name, value)
                try:
                    with urllib.request.urlopen(request, timeout=60) as answer:
                        status, text = answer.status, answer.read()
                except urllib.error.HTTPError as error:
                    status, text = error.code, error.read()
                except OSError:
                    # The lab is away.
                    status, text = 502, b""
                return self.answer(503, b"") if fails else self.answer(status, text)

            do_GET = do_POST = do_PUT = pass_on

            def answer(self, status, text):
                with contextlib.suppress(OSError):
                    self.send_response(status)
                    self.send_header("content-length", str(len(text)))
                    self.end_headers()
                    self.wfile.write(text)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
