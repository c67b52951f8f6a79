"""Requests made from the OpenAPI document, right and wrong, against a real lab: none is a 500."""

import json
import os
import pathlib
import re
import subprocess
import sys
import urllib.request

import pytest

ROOT = pathlib.Path(__file__).parents[2]
BINARY = os.environ.get("CARTRIDGE_BIN", ROOT / "target/release/cartridge")

# Streams have no end, so there is no answer to wait for; the Rust tests read them.
ENDLESS = r"/(stream|ws|live|frames|events)$"


@pytest.fixture
def lab(tmp_path):
    environment = {key: value for key, value in os.environ.items() if key != "CARTRIDGE_TOKEN"}
    command = [BINARY, "up", "--port", "0", "--max-runs", "1", "--data", tmp_path / "data"]
    log = (tmp_path / "log.txt").open("w")
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, env=environment)
    try:
        for line in process.stdout:
            if found := re.search(r"(http://\S+)/login\?code=", line):
                address = found[1]
                break
        yield address, tmp_path / "data", tmp_path / "log.txt"
    finally:
        # Runs outlive the lab, and must not outlive the test.
        data = tmp_path / "data"
        for run in (data / "runs").iterdir():
            subprocess.run([BINARY, "terminate", run.name, "--data", data], capture_output=True)
        process.terminate()
        process.wait()


def test_no_request_is_a_server_error(lab, tmp_path):
    address, data, log = lab
    token = (data / "token").read_text().strip()
    headers = {"Authorization": f"Bearer {token}"}
    request = urllib.request.Request(f"{address}/api/openapi.json", headers=headers)
    with urllib.request.urlopen(request) as answer:
        document = json.load(answer)
    # Most names that are made up are no run's: some of the requests are for runs that there are.
    train = [BINARY, "train", "CartPole-v1", "--steps", "5000", "--detach", "--json", "--data", data]
    runs = [json.loads(subprocess.check_output(train))["run_id"] for _ in range(3)]
    for path, item in document["paths"].items():
        for operation in item.values():
            for parameter in operation.get("parameters", []):
                if path.startswith("/api/runs/{id}") and parameter["name"] == "id":
                    parameter["schema"] = {"type": "string", "enum": [*runs, "r-000000"]}
    (tmp_path / "openapi.json").write_text(json.dumps(document))
    command = [
        *(sys.executable, "-m", "schemathesis.cli", "run", str(tmp_path / "openapi.json")),
        *("--url", address),
        *("--header", f"Authorization: Bearer {token}"),
        *("--checks", "not_a_server_error"),
        *("--phases", "examples,coverage,fuzzing"),
        *("--max-examples", "8"),
        *("--seed", "20260101"),
        *("--request-timeout", "10"),
        *("--exclude-path-regex", ENDLESS),
        *("--generation-database", "none"),
        "--no-color",
    ]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=300)
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:] + log.read_text()[-4000:]
    generated = re.search(r"(\d+) generated", done.stdout)
    assert generated and int(generated[1]) > 1000, done.stdout[-8000:]
    assert token not in log.read_text()
