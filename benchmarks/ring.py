"""Ring attention against one process: CPU time, balance of work, bytes sent, error.

    python benchmarks/ring.py                                        2 and then 4 processes here, over gloo
    torchrun --nproc-per-node=N benchmarks/ring.py --out FILE        one number of processes

The first writes benchmarks/results/ring.json. One thread a process, float32. In every round all ranks go through the
ring and then, while they wait, rank 0 computes the same alone with torch's fused call. What counts is the CPU time
of all ranks together, gloo's own threads included, over that of the one, and the median of these ratios. Time on the
clock says something only where each process has a core and nothing else runs: the load is noted.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch.nn.functional import scaled_dot_product_attention

from sdpa_helpers.attention.ring.messages import Tally
from sdpa_helpers.attention.ring.partition import join_sequence, split_sequence
from sdpa_helpers.attention.ring.ring import ring_attention
from sdpa_helpers.attention.ring.volumes import Shape, contiguous_work, ring_bytes
from sdpa_helpers.course.shipped import processor

SHAPES = [
    Shape(1, 4096, heads=8, kv_heads=8, d_k=64, d_v=64),
    Shape(1, 4096, heads=8, kv_heads=2, d_k=64, d_v=64),
    Shape(1, 4096, heads=1, kv_heads=1, d_k=128, d_v=128),
    Shape(1, 8192, heads=8, kv_heads=8, d_k=64, d_v=64),
]
WORLD_SIZES = (2, 4)
ROUNDS = 7
OWN_NETWORK = "RING_BENCHMARK_OWN_NETWORK"  # set where nobody else's bytes are on the loopback device


def measure(shape: Shape, is_causal: bool, rounds: int) -> dict[str, Any]:
    """One line of the result. Every rank calls it; rank 0's answer counts."""
    rank, size = dist.get_rank(), dist.get_world_size()
    whole, grad = inputs(shape)
    mine = [split_sequence(x, size)[rank].requires_grad_() for x in whole]
    my_grad = split_sequence(grad, size)[rank]
    options = {"is_causal": is_causal, "enable_gqa": shape.kv_heads != shape.heads}

    tally = Tally()
    wire = loopback_bytes()
    output = ring_attention(*mine, **options, tally=tally)
    forward_bytes, pairs = tally.bytes_sent, tally.pairs
    gradients = torch.autograd.grad(output, mine, my_grad)
    backward_bytes = tally.bytes_sent - forward_bytes
    wire = loopback_bytes() - wire
    answers = [collected(x) for x in (output.detach(), *gradients)]

    alone = [x.clone().requires_grad_() for x in whole]
    times: dict[str, list[list[float]]] = {}
    for _ in range(rounds):
        for direction in ("forward", "backward"):
            ring_output = ring_attention(*mine, **options) if direction == "backward" else None
            ring_seconds = timed(lambda out=ring_output: step(out, mine, my_grad, ring_attention, options))
            per_rank = everywhere(ring_seconds)
            if rank == 0:
                out = scaled_dot_product_attention(*alone, **options) if direction == "backward" else None
                seconds = timed(
                    lambda out=out: step(out, alone, grad, scaled_dot_product_attention, options),
                    barrier=False,
                )
                times.setdefault(direction, []).append([*per_rank, *seconds])
            dist.barrier()
    work = [int(x) for x in everywhere([pairs])]
    sent = [everywhere([x]) for x in (forward_bytes, backward_bytes)]
    if rank:
        return {}
    line: dict[str, Any] = {"processes": size, "shape": shape._asdict(), "is_causal": is_causal}
    for direction, found in times.items():
        line[direction] = summary(found, size)
    line["work_max_by_mean"] = round(max(work) / statistics.mean(work), 4)
    line["work_max_by_mean_if_contiguous"] = round(contiguous_work(shape.n, size), 4) if is_causal else 1.0
    for direction, numbers in zip(("forward", "backward"), sent, strict=True):
        line[direction]["bytes_sent_per_rank"] = [int(x) for x in numbers]
        line[direction]["bytes_by_formula"] = ring_bytes(shape, size, 4, backward=direction == "backward")
    line["bytes_of_all_ranks"] = int(sum(sent[0]) + sum(sent[1]))
    line["bytes_on_the_loopback_device"] = wire if os.environ.get(OWN_NETWORK) else None
    expected = one_process([x.double() for x in whole], grad.double(), options)
    ours, alones = [join_sequence(x) for x in answers], one_process(whole, grad, options)
    for name, found in (("error", ours), ("error_alone", alones)):
        far = [float((x.double() - y).abs().max()) for x, y in zip(found, expected, strict=True)]
        line["forward"][name], line["backward"][name] = f"{far[0]:.1e}", f"{max(far[1:]):.1e}"
    return line


def loopback_bytes() -> int:
    """That the kernel has sent over this network's loopback device so far, for all processes together."""
    dist.barrier()
    time.sleep(0.5)  # the last ones are still being acknowledged
    devices = Path("/proc/self/net/dev")
    lines = devices.read_text(encoding="ascii").splitlines() if devices.exists() else []
    return next((int(line.split()[9]) for line in lines if line.strip().startswith("lo:")), 0)


def own_network() -> list[str]:
    """What to put before a command so that nobody else uses its loopback device; nothing where that is impossible."""
    prefix = ["unshare", "--map-root-user", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]
    try:
        works = subprocess.run([*prefix, "true"], capture_output=True, check=False).returncode == 0
    except OSError:
        return []
    return prefix if works else []


def step(output: Any, arrays: list[torch.Tensor], grad: torch.Tensor, attend: Any, options: dict) -> None:
    """One pass: the backward one where there is an output to start from."""
    if output is None:
        with torch.no_grad():
            attend(*arrays, **options)
    else:
        torch.autograd.grad(output, arrays, grad)


def timed(call: Any, barrier: bool = True) -> list[float]:
    """Seconds of this process on its processors, all its threads together, and on the clock."""
    if barrier:
        dist.barrier()
    clock, cpu = time.perf_counter(), time.process_time()
    call()
    return [time.process_time() - cpu, time.perf_counter() - clock]


def summary(found: list[list[float]], size: int) -> dict[str, Any]:
    """Medians over the rounds of: CPU and clock of each rank, then of one process alone."""
    cpu_of = [statistics.median(row[2 * rank] for row in found) for rank in range(size)]
    alone = statistics.median(row[-2] for row in found)
    total = statistics.median(sum(row[0:-2:2]) for row in found)
    clock = statistics.median(max(row[1:-2:2]) for row in found)
    ratios = [sum(row[0:-2:2]) / row[-2] for row in found]
    return {
        "cpu_ms_alone": round(alone * 1e3, 1),
        "cpu_ms_of_all_ranks": round(total * 1e3, 1),
        "cpu_ratio": round(statistics.median(ratios), 3),
        "cpu_ratio_by_round": [round(x, 3) for x in ratios],
        "cpu_max_by_mean": round(max(cpu_of) / statistics.mean(cpu_of), 3),
        "clock_ms_alone": round(statistics.median(row[-1] for row in found) * 1e3, 1),
        "clock_ms_ring": round(clock * 1e3, 1),
    }


def inputs(shape: Shape) -> tuple[list[torch.Tensor], torch.Tensor]:
    """Query, key, value and a gradient of the output, normally distributed: the same on every rank."""
    generator = torch.Generator().manual_seed(0)
    heads = (shape.heads, shape.kv_heads, shape.kv_heads, shape.heads)
    widths = (shape.d_k, shape.d_k, shape.d_v, shape.d_v)
    *whole, grad = (
        torch.randn(shape.batch, h, shape.n, d, generator=generator)
        for h, d in zip(heads, widths, strict=True)
    )
    return whole, grad


def one_process(whole: list[torch.Tensor], grad: torch.Tensor, options: dict) -> list[torch.Tensor]:
    """Output and gradients of torch's fused call."""
    leaves = [x.detach().requires_grad_() for x in whole]
    output = scaled_dot_product_attention(*leaves, **options)
    return [output.detach(), *torch.autograd.grad(output, leaves, grad)]


def collected(x: torch.Tensor) -> list[torch.Tensor]:
    """That tensor of every rank; their sizes are equal here."""
    parts = [torch.empty_like(x, memory_format=torch.contiguous_format) for _ in range(dist.get_world_size())]
    dist.all_gather(parts, x.contiguous())
    return parts


def everywhere(numbers: list[float]) -> list[float]:
    """Those numbers of every rank, one rank after the other."""
    mine = torch.tensor(numbers, dtype=torch.float64)
    return torch.cat(collected(mine)).tolist()


def gloo_gigabytes_per_second(rounds: int = 9, size: int = 2**22) -> float:
    """What one rank sends to the next while it receives as much, over this machine's loopback."""
    rank, world = dist.get_rank(), dist.get_world_size()
    there, here = torch.empty(2, size // 4)
    found = []
    for _ in range(rounds):
        dist.barrier()
        start = time.perf_counter()
        operations = [
            dist.P2POp(dist.isend, there, (rank + 1) % world),
            dist.P2POp(dist.irecv, here, (rank - 1) % world),
        ]
        for work in dist.batch_isend_irecv(operations):
            work.wait()
        found.append(time.perf_counter() - start)
    return round(size / statistics.median(found) / 1e9, 2)


def as_a_rank(out: Path, rounds: int) -> None:
    """Under torchrun."""
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    bandwidth = gloo_gigabytes_per_second()
    lines = []
    for shape in SHAPES:
        for is_causal in (False, True):
            line = measure(shape, is_causal, rounds)
            if dist.get_rank() == 0:
                lines.append(line | {"gloo_gigabytes_per_second": bandwidth, "load": os.getloadavg()[0]})
                print(json.dumps(line), flush=True)
    if dist.get_rank() == 0:
        out.write_text(json.dumps(lines), encoding="utf-8")
    dist.destroy_process_group()


def main() -> None:
    """Start the processes, gather what they measured, write it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, help="where a rank writes; only under torchrun")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    chosen = parser.parse_args()
    if "RANK" in os.environ:
        as_a_rank(chosen.out or Path("ring.json"), chosen.rounds)
        return
    load, lines, prefix = os.getloadavg(), [], own_network()
    environment = os.environ | {"OMP_NUM_THREADS": "1"} | ({OWN_NETWORK: "1"} if prefix else {})
    with tempfile.TemporaryDirectory() as folder:
        for size in WORLD_SIZES:
            out = Path(folder) / f"{size}.json"
            command = [
                *prefix,
                sys.executable,
                "-m",
                "torch.distributed.run",
                "--standalone",
                f"--nproc-per-node={size}",
            ]
            command += [__file__, "--out", str(out), "--rounds", str(chosen.rounds)]
            subprocess.run(command, env=environment, check=True)
            lines += json.loads(out.read_text(encoding="utf-8"))
    result = {
        "command": "python benchmarks/ring.py",
        "date": datetime.date.today().isoformat(),
        "processor": processor(),
        "cores": os.cpu_count(),
        "load_before": [round(x, 2) for x in load],
        "torch": torch.__version__,
        "threads_of_each_process": 1,
        "rounds": chosen.rounds,
        "meaning": {
            "cpu_ratio": "CPU time of all ranks / of one process in the same round; the median of the rounds",
            "error": "the largest, against float64; error_alone: that of one process in float32",
            "bytes_on_the_loopback_device": "by the kernel's count, of one forward and one backward pass",
        },
        "results": lines,
    }
    target = Path(__file__).parent / "results" / "ring.json"
    target.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(f"written: {target}")


if __name__ == "__main__":
    main()
