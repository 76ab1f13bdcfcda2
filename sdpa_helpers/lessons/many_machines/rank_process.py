"""Lesson 09: what one of its processes does, from its first line to its end. `processes.py` starts them."""

import contextlib
import os
import signal
import sys
import threading
import traceback
from datetime import timedelta
from multiprocessing import parent_process
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.distributed as dist

from sdpa_helpers.lessons.many_machines.jobs import Job, Reply

PATIENCE = timedelta(seconds=60)
"""How long a rank waits for another one."""


class Counter:
    """Stands before torch's `batch_isend_irecv` and counts what is handed over to be sent."""

    def __init__(self) -> None:
        self.bytes_sent = self.messages = 0
        self.hand_over = dist.batch_isend_irecv

    def __call__(self, operations: list[dist.P2POp]) -> list[dist.Work]:
        leaving = [each.tensor for each in operations if each.op is dist.isend]
        self.messages += len(leaving)
        self.bytes_sent += sum(tensor.numel() * tensor.element_size() for tensor in leaving)
        return self.hand_over(operations)


def serve(rank: int, size: int, folder: str, pipe: Connection) -> None:
    """Join the others, then run one job after the other, until there are no more or the kernel is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # interrupting a cell reaches every process of the kernel
    threading.Thread(target=_end_with_the_kernel, daemon=True).start()
    torch.set_num_threads(1)
    if sys.platform == "linux":
        os.environ.setdefault(
            "GLOO_SOCKET_IFNAME", "lo"
        )  # all ranks are here, whatever the host's name means
    try:
        meeting = (Path(folder) / "meeting").as_uri()
        dist.init_process_group("gloo", init_method=meeting, rank=rank, world_size=size, timeout=PATIENCE)
        with contextlib.suppress(EOFError):
            while True:
                pipe.send(run(pipe.recv()))
    except BaseException:  # whatever it was: the kernel is told, and this process ends
        with contextlib.suppress(OSError):
            pipe.send(Reply(error=traceback.format_exc()))
    finally:
        os._exit(0)  # no goodbye: it would wait for ranks that are gone


def run(job: Job) -> Reply:
    """Run one program and count what it sends."""
    names: dict[str, Any] = {"np": np, "torch": torch, "dist": dist}
    counter = Counter()
    dist.batch_isend_irecv = counter
    try:
        exec(compile(job.source, "program of the notebook", "exec"), names)
        value = names[job.name](*job.arguments)
        return Reply(value, counter.bytes_sent, counter.messages)
    except Exception:
        return Reply(error=traceback.format_exc())
    finally:
        dist.batch_isend_irecv = counter.hand_over


def _end_with_the_kernel() -> None:
    """Wait until the process that asked for this one is gone, however it ended, and go too."""
    kernel = parent_process()
    if kernel is not None:
        kernel.join()
        os._exit(0)
