"""Counts what a flooded run has on disk: used by ingest.sh."""

import json
import pathlib
import sys


def lines(path):
    with open(path, "rb") as file:
        for line in file:
            yield json.loads(line)


data, report, rate = sys.argv[1:]
folder = pathlib.Path(data) / "runs" / json.loads(report)["run_id"]
journal = list(lines(folder / "supervisor.jsonl"))
seconds = journal[-1]["t"] - journal[0]["t"]
counts = journal[-1]["lines"]
n_points, n_rows, last_row, n_episodes = 0, 0, 0, 0
for row in lines(folder / "metrics.jsonl"):
    n_rows += 1
    assert row["row"] == last_row + 1, "rows are numbered without gap"
    last_row = row["row"]
    n_points += sum(name.startswith("flood/") for name in row["values"])
    n_episodes += len(row.get("episodes", {}).get("episode", []))

n_bytes = sum(path.stat().st_size for path in (folder / "episodes").glob("*.seg"))
said = counts["by_type"]
result = {
    "rate": rate,
    "seconds": round(seconds, 2),
    "points_per_sec": round(n_points / seconds),
    "steps_per_sec": round(said["step"] / seconds),
    "points": n_points,
    "steps": said["step"],
    "rows": n_rows,
    "episodes": n_episodes,
    "metrics_bytes": (folder / "metrics.jsonl").stat().st_size,
    "episodes_bytes": n_bytes,
    "lines": {name: counts[name] for name in ("typed", "log", "wrong", "unknown", "cut")},
}
print(json.dumps(result))
assert n_points == said["metric"], "every point is on disk"
assert n_episodes == said["episode"], "every episode is on disk"
assert counts["wrong"] == counts["cut"] == counts["log"] == 0
assert result["points_per_sec"] >= 50_000 and result["steps_per_sec"] >= 20_000, "too slow"
