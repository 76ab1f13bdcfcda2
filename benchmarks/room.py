"""How fast `sdpa room` answers a full room.

    python benchmarks/room.py

writes benchmarks/results/room.json. Each of 200 learners joins, sends a line of the log twice a minute and asks for
their own page's numbers every other second, over a connection of its own that stays open, as a browser's does; the
board and the phone ask every other second. After half of the time the room is killed (SIGKILL) and opened again with
the same file; lines that were not answered meanwhile are sent again. At the end the file is counted: no line that was
sent may be missing or doubled.
"""

import argparse
import asyncio
import datetime
import json
import os
import random
import re
import signal
import sqlite3
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

import psutil

from sdpa_helpers.course.shipped import processor

WRONG = ("causal-offset-lost", "fill-too-small", "mask-inverted", "scaled-twice")
EXERCISES = ("softmax", "weighted_sum", "masked_softmax")


class Away(Exception):
    """No reply."""


class Learner:
    """One who checks, and whose page asks."""

    def __init__(self, port: int, took: dict[str, list[float]]) -> None:
        self.port, self.took, self.who, self.sent = port, took, "", 0
        self.pipe: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        self.lock = asyncio.Lock()

    async def ask(self, kind: str, path: str, data: object = None, **headers: str) -> bytes:
        """One request; Away where the room was."""
        async with self.lock:
            began = time.perf_counter()
            try:
                status, body = await asyncio.wait_for(self._ask(path, data, headers), 5)
            except (OSError, EOFError, TimeoutError, ValueError, IndexError) as error:
                self.pipe = None
                raise Away from error
            if status >= 300:
                raise RuntimeError(f"{path}: {status} {body!r}")
            self.took[kind].append(1000 * (time.perf_counter() - began))
            return body

    async def _ask(self, path: str, data: object, headers: dict[str, str]) -> tuple[int, bytes]:
        if self.pipe is None:
            self.pipe = await asyncio.open_connection("127.0.0.1", self.port)
        reader, writer = self.pipe
        body = b"" if data is None else json.dumps(data).encode()
        head = {
            "Host": "room",
            "Content-Type": "application/json",
            "Content-Length": str(len(body)),
            **headers,
        }
        lines = [f"{'POST' if body else 'GET'} {path} HTTP/1.1", *(f"{n}: {v}" for n, v in head.items())]
        writer.write("\r\n".join([*lines, "", ""]).encode() + body)
        said = (await reader.readuntil(b"\r\n\r\n")).decode()
        found = re.search(r"Content-Length: (\d+)", said)
        length = int(found[1]) if found else 0
        return int(said.split()[1]), await reader.readexactly(length)

    async def check(self, seconds: float, end: float) -> None:
        """Lines, at times by chance; each until it was taken."""
        await asyncio.sleep(random.uniform(0, seconds))
        while time.monotonic() < end:
            self.sent += 1
            green = random.random() < 0.3
            line = {
                "time": round(time.time(), 1) + self.sent * 1000, "exercise": random.choice(EXERCISES), "max": 4.0,
                "points": 4.0 if green else 1.0, "mistakes": [] if green else [random.choice(WRONG)], "tries": 1,
                "minutes": 0.5,
            }  # fmt: skip
            while True:
                try:
                    await self.ask("line", "/line", {"who": self.who, "line": line})
                    break
                except Away:
                    await asyncio.sleep(0.5)
            await asyncio.sleep(random.uniform(0.5, 1.5) * seconds)

    async def follow(self, kind: str, path: str, end: float, **headers: str) -> None:
        """What a page does."""
        await asyncio.sleep(random.uniform(0, 2))
        while time.monotonic() < end:
            try:
                await self.ask(kind, path, **headers)
            except Away:
                await asyncio.sleep(0.5)
            await asyncio.sleep(2)


async def opened(port: int, file: Path) -> tuple[asyncio.subprocess.Process, str]:
    """The room's process and its key."""
    command = [
        sys.executable,
        "-m",
        "sdpa_helpers",
        "room",
        "--port",
        str(port),
        "--host",
        "127.0.0.1",
        "--file",
        str(file),
    ]
    room = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    assert room.stdout is not None
    while line := (await room.stdout.readline()).decode():
        if found := re.search(r"/phone#(\w+)", line):
            return room, found[1]
    raise SystemExit("the room did not open")


def usage(room: asyncio.subprocess.Process) -> dict[str, float]:
    """What the room has used."""
    process = psutil.Process(room.pid)
    times = process.cpu_times()
    return {"mb": round(process.memory_info().rss / 2**20), "cpu": times.user + times.system}


async def measured(learners: int, seconds: float, port: int, between: float = 30.0) -> dict[str, object]:
    """Milliseconds by kind of request, and what became of the lines."""
    with tempfile.TemporaryDirectory() as folder:
        file, took = Path(folder) / "room.sqlite", defaultdict[str, list[float]](list)
        room, key = await opened(port, file)
        group = [Learner(port, took) for _ in range(learners)]
        for learner in group:
            learner.who = json.loads(await learner.ask("join", "/join", {}))["who"]
        start = usage(room)
        end = time.monotonic() + seconds
        screens = [Learner(port, took), Learner(port, took)]
        tasks = [asyncio.create_task(one.check(between, end)) for one in group]
        tasks += [
            asyncio.create_task(one.follow("here", "/here.json", end, **{"X-Room-Who": one.who}))
            for one in group
        ]
        tasks.append(asyncio.create_task(screens[0].follow("board", "/board.json", end)))
        tasks.append(
            asyncio.create_task(screens[1].follow("phone", "/phone.json", end, **{"X-Room-Key": key}))
        )
        await asyncio.sleep(seconds / 2)
        half = usage(room)
        room.send_signal(signal.SIGKILL)
        await room.wait()
        killed = time.monotonic()
        room, again = await opened(port, file)
        back = time.monotonic() - killed
        assert again == key
        await asyncio.gather(*tasks)
        room.terminate()
        await room.wait()
        base = sqlite3.connect(file)
        kept = base.execute(
            "select count(*), count(distinct name || attempt) from events where kind = 'check'"
        ).fetchone()
        base.close()
    sent = sum(one.sent for one in group)
    return {
        "milliseconds": {kind: _spread(found) for kind, found in took.items()},
        "lines": {"sent": sent, "kept": kept[0], "doubled": kept[0] - kept[1]},
        "room": {
            "mb": half["mb"], "share_of_a_core": round((half["cpu"] - start["cpu"]) / (seconds / 2), 3),
            "seconds_to_open_again": round(back, 1),
        },
    }  # fmt: skip


def _spread(found: list[float]) -> dict[str, float]:
    ordered = sorted(found)
    p95 = ordered[int(0.95 * len(ordered))]
    told = {"p50": ordered[len(ordered) // 2], "p95": p95, "max": ordered[-1]}
    return {"requests": len(found), **{name: round(value, 1) for name, value in told.items()}}


def main() -> None:
    """Measure and write it down."""
    asked = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    asked.add_argument("--learners", type=int, default=200)
    asked.add_argument("--seconds", type=float, default=120)
    asked.add_argument("--port", type=int, default=8643)
    asked.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "room.json")
    given = asked.parse_args()
    before = round(os.getloadavg()[0], 1)
    found = asyncio.run(measured(given.learners, given.seconds, given.port))
    about = {
        "command": "python benchmarks/room.py", "date": f"{datetime.date.today()}", "processor": processor(),
        "cores": os.cpu_count(), "load_before": before, "learners": given.learners, "seconds": given.seconds,
    }  # fmt: skip
    given.out.write_text(json.dumps(about | found, indent=1) + "\n")
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
