"""What one process of the tests in test_ring.py does. No test itself; started as a program, several at once.

    python ring_ranks.py groups FOLDER      forks into four: every case, in groups of 1, 2 and 4; then some get lost
    python ring_ranks.py world FOLDER       every case, all processes together: for torchrun, which starts each

torchrun says RANK and WORLD_SIZE in the environment. Each rank saves what it
found as FOLDER/RANK.pt; rank 0 also what it saw of those that got lost, as FOLDER/lost.pt.
"""

import os
import sys
import time
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist

import sdpa_helpers as sdpa
from sdpa_helpers.attention.ring.messages import Tally
from sdpa_helpers.attention.ring.partition import zigzag_partition
from sdpa_helpers.attention.ring.ring import ring_attention


@dataclass(frozen=True)
class RingCase:
    """A whole sequence; how it is given to the ring."""

    n: int
    lead: tuple[int, ...] = (2, 4)
    lead_key: tuple[int, ...] | None = None  # as that of the query when None
    lead_value: tuple[int, ...] | None = None  # as that of the key
    n_q: int | None = None
    d_k: int = 3
    d_v: int = 3
    is_causal: bool = True
    scale: float | None = 0.4
    enable_gqa: bool = False
    spread: float = 1.0  # of the queries
    spread_of_keys: float = 1.0
    dtype: torch.dtype = torch.float64
    transposed: bool = False  # in memory (…, length, heads, features)

    def whole(self) -> list[torch.Tensor]:
        """Query, key, value and the gradient of the output: float64 numbers that `dtype` can hold."""
        generator = torch.Generator().manual_seed(self.n)
        key = self.lead if self.lead_key is None else self.lead_key
        value = key if self.lead_value is None else self.lead_value
        n_q = self.n if self.n_q is None else self.n_q
        shapes = [
            (*self.lead, n_q, self.d_k),
            (*key, self.n, self.d_k),
            (*value, self.n, self.d_v),
            (*self.lead, n_q, self.d_v),
        ]
        made = [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]
        made[0] *= self.spread
        made[1] *= self.spread_of_keys
        return [x.to(self.dtype).double() for x in made]

    @property
    def options(self) -> dict:
        return {"is_causal": self.is_causal, "scale": self.scale, "enable_gqa": self.enable_gqa}


CASES = {
    "causal": RingCase(64),
    "full": RingCase(64, is_causal=False),
    "uneven": RingCase(37, d_v=5),
    "uneven, full": RingCase(37, d_k=5, is_causal=False),
    "more ranks than rows": RingCase(3),
    "one row": RingCase(1, is_causal=False),
    "no rows": RingCase(0),
    "no columns of values": RingCase(9, d_v=0),
    "other queries than keys": RingCase(14, n_q=9, is_causal=False),
    "grouped heads": RingCase(24, lead=(2, 6), lead_key=(2, 2), enable_gqa=True),
    "differently grouped heads": RingCase(24, lead=(4,), lead_key=(2,), lead_value=(1,), enable_gqa=True),
    "one matrix": RingCase(20, lead=()),
    "broadcasting": RingCase(20, lead=(2, 1, 3), lead_key=(2, 1, 1), lead_value=(3,), is_causal=False),
    "transposed": RingCase(24, transposed=True),
    "negative scale": RingCase(24, scale=-0.7),
    "scale of zero": RingCase(24, scale=0.0),
    "a scale that float32 does not hold": RingCase(
        24, scale=-0.7e-50, spread=1e25, spread_of_keys=1e25, dtype=torch.float32
    ),
    "large scores": RingCase(40, spread=1e4),
    "float32": RingCase(512, lead=(1, 2), d_k=64, d_v=64, scale=None, dtype=torch.float32),
    "float32, full": RingCase(
        512, lead=(1, 2), d_k=64, d_v=64, scale=None, is_causal=False, dtype=torch.float32
    ),
    "bfloat16": RingCase(96, d_k=16, d_v=16, dtype=torch.bfloat16),
    "float16": RingCase(96, d_k=16, d_v=16, is_causal=False, dtype=torch.float16),
}


def given(case: RingCase, rank: int, size: int) -> list[torch.Tensor]:
    """This rank's rows of each array."""
    parts = []
    for whole in case.whole():
        mine = whole[..., zigzag_partition(whole.shape[-2], size)[rank], :].to(case.dtype)
        parts.append(mine.transpose(-2, -3).contiguous().transpose(-2, -3) if case.transposed else mine)
    return parts


def run_case(case: RingCase, group: dist.ProcessGroup | None) -> dict:
    """Output, gradients, what was counted, and whether the inputs are what they were."""
    *arrays, grad = given(case, dist.get_rank(group), dist.get_world_size(group))
    leaves = [x.requires_grad_() for x in arrays]
    before = [x.detach().clone() for x in leaves]
    tally = Tally()
    output = ring_attention(*leaves, **case.options, group=group, tally=tally)
    forward = dict(vars(tally))
    gradients = torch.autograd.grad(output, leaves, grad)
    same = all(torch.equal(x.detach(), y) for x, y in zip(leaves, before, strict=True))
    return {
        "results": [output.detach(), *gradients],
        "forward": forward,
        "both": vars(tally),
        "unchanged": same,
    }


def message(call) -> str:
    """Of the error that it raises."""
    try:
        call()
    except (TypeError, ValueError, RuntimeError) as error:
        return f"{type(error).__name__}: {error}"
    return "no error"


def public_calls() -> dict:
    """The one public function with backend="ring", and what it refuses."""
    rank, size = dist.get_rank(), dist.get_world_size()
    case = CASES["uneven"]
    query, key, value, _ = given(case, rank, size)

    def attend(*arrays, **more):
        return sdpa.scaled_dot_product_attention(*arrays, backend="ring", **(case.options | more))

    arrays = [x.numpy() for x in (query, key, value)]
    output = attend(*arrays)
    return {
        "backends": sdpa.backends(),
        "explained": str(sdpa.explain_backend(query, key, value, backend="ring", **case.options)),
        "automatic": sdpa.explain_backend(query, key, value, **case.options).backend,
        "torch": attend(query, key, value),
        "numpy": torch.from_numpy(output) if isinstance(output, np.ndarray) else None,
        "mask": message(lambda: attend(query, key, value, attn_mask=torch.ones(1, 1, dtype=torch.bool))),
        "dropout": message(lambda: attend(query, key, value, dropout_p=0.5)),
        "weights": message(lambda: attend(query, key, value, return_weights=True)),
        "arrays": message(lambda: ring_attention(*arrays)),
        "disagree": message(lambda: attend(query, key, value, is_causal=rank == 1)),
        "dtype": message(lambda: attend(*(x.float() if rank == 1 else x for x in (query, key, value)))),
        "scale": message(lambda: attend(query, key, value, scale=0.5 + rank)),
        "gradient": message(lambda: attend(query.clone().requires_grad_(rank == 1), key, value)),
        "rows": message(lambda: attend(*(x[..., : 10 - rank, :] for x in (query, key, value)))),
        "cross": message(lambda: attend(query[..., :-1, :], key, value)),
        "twice": message(lambda: second_derivative(query, key, value)),
    }


def second_derivative(query, key, value) -> None:
    query = query.clone().requires_grad_()
    output = ring_attention(query, key, value)
    (gradient,) = torch.autograd.grad(output.sum(), query, create_graph=True)
    torch.autograd.grad(gradient.sum(), query)


def in_groups() -> dict:
    """In groups of 1, 2 and 4: the groups of two are [0, 1] and [2, 3], whose own ranks are 0 and 1 too."""
    rank = dist.get_rank()
    groups = {}
    for size in (1, 2):
        for first in range(0, 4, size):
            group = dist.new_group(list(range(first, first + size)))
            if first <= rank < first + size:
                groups[size] = group
    groups[4] = None
    found = {(size, name): run_case(case, groups[size]) for size in groups for name, case in CASES.items()}
    other = dist.new_group([0, 1])
    outside = (
        message(lambda: ring_attention(*given(CASES["causal"], 0, 1)[:3], group=other)) if rank > 1 else ""
    )
    return {"cases": found, "public": public_calls(), "outside": outside}


def all_together() -> dict:
    size = dist.get_world_size()
    return {"cases": {(size, name): run_case(case, None) for name, case in CASES.items()}}


def get_lost() -> dict:
    """Rank 2 ends between forward and backward; rank 1 never comes to the ring. Rank 0 tells what it saw."""
    rank = dist.get_rank()
    dying = dist.new_group([0, 2], timeout=timedelta(seconds=20))
    sleeping = dist.new_group([0, 1], timeout=timedelta(seconds=2))
    if rank == 3:
        os._exit(0)
    query, key, value, grad = given(CASES["causal"], 0, 2)
    query.requires_grad_()
    if rank == 1:
        dist.barrier(sleeping)
        time.sleep(60)
    output = ring_attention(query, key, value, group=dying)
    if rank == 2:
        os._exit(0)
    start = time.monotonic()
    ended = message(lambda: torch.autograd.grad(output, query, grad))
    noticed = time.monotonic()
    dist.barrier(sleeping)
    absent = message(lambda: ring_attention(query, key, value, group=sleeping))
    return {"ended": ended, "absent": absent, "seconds": (noticed - start, time.monotonic() - noticed)}


if __name__ == "__main__":
    torch.set_num_threads(1)
    what, folder = sys.argv[1:]
    if what == "groups":  # importing torch takes longer than what they compute
        rank = next((rank for rank in (1, 2, 3) if os.fork() == 0), 0)
        os.environ |= {"RANK": str(rank), "WORLD_SIZE": "4", "INIT_METHOD": f"file://{folder}/meeting"}
    dist.init_process_group(
        "gloo",
        init_method=os.environ.get("INIT_METHOD", "env://"),
        rank=int(os.environ["RANK"]),
        world_size=int(os.environ["WORLD_SIZE"]),
        timeout=timedelta(seconds=60),
    )
    answer = in_groups() if what == "groups" else all_together()
    torch.save(answer, Path(folder) / f"{os.environ['RANK']}.pt")
    if what == "groups":
        torch.save(get_lost(), Path(folder) / "lost.pt")
        os._exit(0)  # nobody is left to say goodbye to
    dist.destroy_process_group()
