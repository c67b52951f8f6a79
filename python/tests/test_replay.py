"""Games of self-play as docs/alphazero.md tells other programs to read them."""

import sqlite3
import struct

GAME = struct.Struct("<BBhHH")
SETTINGS = {
    "simulation.n_envs": 16,
    "simulation.n_steps": 16,
    "trainer.network": "tiny",
    "trainer.least_window": 1000,
    "trainer.learning_starts": 256,
    "trainer.batch_size": 32,
    "evaluation.final_episodes": 2,
    "evaluation.simulations": 4,
}
LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]


def decode(data):
    """The end, the score of who moved first, the moves, and what the searches found."""
    form, end, score, n_opening, n_moves = GAME.unpack_from(data)
    assert form == 1
    at = GAME.size
    moves = struct.unpack_from(f"<{n_moves}H", data, at)
    at += 2 * n_moves
    searches = []
    for _ in range(n_moves - n_opening):
        value, is_thorough, n_shares = struct.unpack_from("<hBH", data, at)
        at += 5
        shares = dict(struct.iter_unpack("<HH", data[at : at + 4 * n_shares]))
        at += 4 * n_shares
        searches.append((value / 32767, bool(is_thorough), shares))
    assert at == len(data)
    return end, score / 32767, moves, searches


def winner(moves):
    """1 if who moved first has three in a row of tic-tac-toe, -1 if the other has, 0 if neither."""
    for seat, sign in ((0, 1), (1, -1)):
        own = set(moves[seat::2])
        if any(own.issuperset(line) for line in LINES):
            return sign
    return 0


def test_games_are_read_by_others(lab):
    sets = [word for key, value in SETTINGS.items() for word in ("--set", f"{key}={value}")]
    done = lab.cartridge(*["train", "tictactoe", "--steps", "5000", "--seed", "1"], *sets)[-1]
    replay = lab.data / "runs" / done["run_id"] / "replay.db"
    with sqlite3.connect(f"file:{replay}?mode=ro", uri=True) as database:
        rows = database.execute("SELECT id, data, created_at FROM games ORDER BY id").fetchall()
    assert [row[0] for row in rows] == list(range(rows[0][0], rows[0][0] + len(rows)))
    games = [decode(data) for _, data, _ in rows]
    assert len(games) > 100
    for end, score, moves, searches in games:
        assert len(set(moves)) == len(moves) and set(moves) <= set(range(9))
        if end == 0:
            assert winner(moves) == score
        for value, _, shares in searches:
            assert -1 <= value <= 1
            assert abs(sum(shares.values()) - 65535) <= 9
    assert {end for end, *_ in games} & {0, 1}
    assert any(thorough for *_, searches in games for _, thorough, _ in searches)
