"""`/metrics` of a real lab with a run at work, judged by Prometheus's own `promtool`."""

import json
import os
import re
import shutil
import subprocess
import urllib.request

from test_schemathesis import BINARY, ROOT, lab  # noqa: F401

# `make py-test` puts it there; without it this test fails and says so.
PROMTOOL = shutil.which("promtool", path=f"{ROOT}/.venv/bin:{os.environ['PATH']}")


def test_promtool_finds_nothing_wrong(lab):  # noqa: F811
    address, data, _ = lab
    assert PROMTOOL, "promtool is missing: it is in Debian's package `prometheus`"
    train = [BINARY, "train", "CartPole-v1", "--steps", "5000000", "--detach", "--json", "--data", data]
    run = json.loads(subprocess.check_output(train))["run_id"]
    token = (data / "token").read_text().strip()

    def open_path(path):
        request = urllib.request.Request(address + path, headers={"Authorization": f"Bearer {token}"})
        return urllib.request.urlopen(request, timeout=60)

    # Until the run has a pace: the lab needs a moment to find it, and a trainer to begin.
    with open_path("/api/stream") as stream:
        next(line for line in stream if re.search(rb'"steps_per_sec":[0-9]', line))
    with open_path("/metrics") as answer:
        kind, text = answer.headers["content-type"], answer.read()
    assert f'cartridge_run_steps_per_second{{run_id="{run}"}}'.encode() in text
    assert f'cartridge_env_steps_total{{run_id="{run}"}}'.encode() in text
    assert kind.startswith("text/plain; version=0.0.4")
    done = subprocess.run([PROMTOOL, "check", "metrics"], input=text, capture_output=True)
    assert done.returncode == 0 and not done.stderr, done.stderr.decode() + text.decode()
