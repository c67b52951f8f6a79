"""An example of this package as a trainer that `lab.json` names, started over HTTP."""

import json
import re
import subprocess
import sys
import urllib.error
import urllib.request
import uuid

import pytest
from conftest import BINARY, EXAMPLES, wait_for

CEM = {
    "title": "Cross entropy",
    "env_id": ["CartPole-v1", "Acrobot-v1"],
    "command": [sys.executable, "numpy_loop.py"],
    "folder": str(EXAMPLES),
    "arguments": {
        "steps": {"type": "integer", "default": 30_000, "minimum": 1_000, "maximum": 1_000_000},
        "seed": {"type": "integer", "minimum": 0},
    },
}


@pytest.fixture
def ask(lab):
    """A lab that is up and names the trainer; a function that asks it and returns its answer."""
    lab.data.mkdir()
    (lab.data / "lab.json").write_text(json.dumps({"trainers": {"cem": CEM}}))
    command = [BINARY, "up", "--port", "0", "--max-runs", "4"]
    up = subprocess.Popen(
        command, env=lab.environment, cwd=lab.folder, stdout=subprocess.PIPE, text=True
    )
    lab.processes.append(up)
    origin = next(
        found[1] for line in up.stdout if (found := re.search(r"Open (http://[^/]+)/login", line))
    )

    def ask(path, body=None):
        token = (lab.data / "token").read_text().strip()
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        if body is not None:
            headers["Idempotency-Key"] = uuid.uuid4().hex
            body = json.dumps(body).encode()
        request = urllib.request.Request(origin + path, body, headers)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as refused:
            return json.load(refused)

    return ask


def test_numpy_loop_over_http(lab, ask):
    (listed,) = ask("/api/trainers")["trainers"]
    assert (listed["id"], listed["env_ids"]) == ("cem", CEM["env_id"])
    assert "numpy_loop" not in json.dumps(listed) and str(EXAMPLES) not in json.dumps(listed)

    refused = ask("/api/trainers/cem/runs", {"arguments": {"steps": 10}})
    assert refused["errors"][0]["pointer"] == "/arguments/steps"
    assert "below the minimum 1000" in refused["detail"]
    assert ask("/api/trainers/cem/runs", {"command": ["id"]})["code"] == "invalid_field"
    assert lab.runs() == []

    made = ask("/api/trainers/cem/runs", {"arguments": {"steps": 4_000, "seed": 3}, "name": "cem"})
    run = made["id"]
    ended = lab.exit(run)
    assert ended["code"] == 0, ended
    counts = ended["lines"]
    assert (counts["wrong"], counts["unknown"]) == (0, 0), counts
    assert counts["by_type"]["episode"] > 10
    rows = lab.lines(run, "metrics.jsonl")
    names = {name for row in rows for name in row["values"]}
    assert {"train/mean_return", "train/deviation", "rollout/ep_rew_mean"} <= names
    assert lab.events(run, "checkpoint_saved")
    shown = wait_for(lambda: (it := ask(f"/api/runs/{run}"))["ended_at"] and it)
    assert (shown["state"], shown["seed"], shown["algorithm"]) == ("succeeded", 3, "cem")
    assert (shown["trainer_id"], shown["total_timesteps"]) == ("cem", 4_000)
    assert ask(f"/api/runs/{run}/config")["arguments"] == {"steps": 4_000, "seed": 3}
    (line,) = [line for line in ask("/api/audit")["lines"] if line["target"] == run]
    assert (line["what"], line["new"]["arguments"]["steps"]) == ("create", 4_000)
