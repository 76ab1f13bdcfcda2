"""What the compiler makes of the programs for GPUs that are not here.

A program that needs more registers than a thread has keeps the rest in slow memory, and one that needs more shared
memory than the GPU has does not start. Both are known before any GPU runs it: from the machine code. The command
compiles every setting that blocks.py promises, prints registers, spilled bytes and shared memory of each, and writes
them beside the other results. Nothing is run and nothing is timed; how fast the programs are, it does not say.

    python -m tests.attention.triton_compiled --out benchmarks/results [--architecture 90] [--jobs 2]
"""

from __future__ import annotations

import argparse
import ast
import csv
import hashlib
import importlib.metadata
import json
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from unittest import mock

import torch
import triton.backends.nvidia as nvidia
from triton.backends.compiler import GPUTarget
from triton.runtime import driver

from sdpa_helpers.attention.layout import Head, Rule
from sdpa_helpers.attention.triton import blocks, kernels, programs
from sdpa_helpers.attention.triton.lists import seen_in_tiles

if TYPE_CHECKING:
    from collections.abc import Iterator

DTYPES = ("bfloat16", "float32")  # float16 takes the tiles of bfloat16; tests compile some of it
CASES = ("full", "causal", "causal mask")  # a mask alone is the last without a comparison
N = 1000  # queries and keys: no multiple of any tile, so that the code for the ends is compiled too


class Setting(NamedTuple):
    architecture: int
    dtype: str
    size: int  # of a head
    program: str
    case: str  # one of CASES


class Used(NamedTuple):
    """What the machine code of a program uses."""

    registers: int  # of a thread
    spilled_bytes: int  # of a thread, in slow memory
    shared_bytes: int  # of a block of threads


def promised() -> list[Setting]:
    """Everything that blocks.py has a tile for."""
    return [
        Setting(architecture, dtype, size, program, case)
        for architecture in blocks.ARCHITECTURES
        for dtype in DTYPES
        for size in blocks.SIZES
        for program in blocks.PROGRAMS
        for case in CASES
    ]


def compiled(setting: Setting, block: blocks.Block | None = None) -> Any:
    """The program as a call of that kind compiles it; `block`: with this tile instead of the table's."""
    with compiling_for(setting.architecture, block) as found:
        CALLS[setting.program](setting)
    (program,) = found
    return program


def used(program: Any) -> Used:
    """From the machine code, by the tool that Triton carries."""
    tool = Path(nvidia.__path__[0]) / "bin" / "cuobjdump"
    with tempfile.TemporaryDirectory() as folder:
        binary = Path(folder) / "program.cubin"
        binary.write_bytes(program.asm["cubin"])
        printed = subprocess.run(
            [tool, "-res-usage", binary], capture_output=True, text=True, check=True
        ).stdout
    of = {name: int(number) for name, number in re.findall(r"(REG|STACK|LOCAL):(\d+)", printed)}
    return Used(of["REG"], of["STACK"] + of["LOCAL"], program.metadata.shared)


class AbsentGPU(NamedTuple):
    """As much of Triton's driver as compiling asks."""

    architecture: int

    def get_current_device(self) -> int:
        return self.architecture  # programs are kept by this number: no real device's

    def get_current_stream(self, device: int) -> int:
        return 0

    def get_current_target(self) -> GPUTarget:
        return GPUTarget("cuda", self.architecture, 32)


@contextmanager
def compiling_for(architecture: int, block: blocks.Block | None = None) -> Iterator[list[Any]]:
    """In here launches compile their program for that GPU and append it to the list; none is started."""
    found: list[Any] = []

    def compile_only(program: Any, copies: int, **arguments: Any) -> None:
        found.append(program.run(grid=(copies,), warmup=True, **arguments))

    replaced: Any = {"launch": compile_only, "architecture": lambda device: architecture}
    if block is not None:
        replaced["block_for"] = lambda program, arrays: block
    with (
        mock.patch.multiple(programs, **replaced),
        mock.patch.object(driver, "_active", AbsentGPU(architecture)),
    ):
        yield found


# Calls -----------------------------------------------------------------------------------------------------


def arguments(setting: Setting) -> tuple[Head, Rule, torch.Tensor | None]:
    """Of a call of that kind: grouped heads, and what a mask shows of each tile."""
    dtype = getattr(torch, setting.dtype)
    query, key = (torch.zeros(1, heads, N, setting.size, dtype=dtype) for heads in (4, 2))
    mask = torch.ones(1, 1, N, N, dtype=torch.bool).expand(1, 4, N, N) if "mask" in setting.case else None
    rule = Rule(mask, "causal" in setting.case, 0.1)
    return Head(query, key, key), rule, None if mask is None else seen_in_tiles(mask)


def call_forward(setting: Setting) -> None:
    programs.start_forward(*arguments(setting))


def call_query_gradient(setting: Setting) -> None:
    arrays, rule, seen = arguments(setting)
    done = programs.Forward(torch.zeros_like(arrays.query), torch.zeros(1, 4, N))
    programs.start_query_gradient(arrays, rule, seen, done, (done.output, None))


def call_key_gradients(setting: Setting) -> None:
    arrays, rule, seen = arguments(setting)
    of_rows = (torch.zeros(1, 4, N), torch.zeros(1, 4, N))
    programs.start_key_gradients(arrays, rule, seen, of_rows, torch.zeros_like(arrays.query))


CALLS = {
    "forward": call_forward,
    "query_gradient": call_query_gradient,
    "key_gradients": call_key_gradients,
}


# The table -------------------------------------------------------------------------------------------------

FILE = "triton-compiled"


def source_hash() -> str:
    """Of all that decides what is compiled: the programs, without their comments, and the table of tiles."""
    tree = ast.parse(Path(str(kernels.__file__)).read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [x for x in body if not is_text(x)]  # pyright: ignore[reportAttributeAccessIssue]
    tiles = [(*x, *blocks.best(x.architecture, x.program, x.dtype, x.size)) for x in promised()]
    text = ast.unparse(tree) + repr(tiles)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def row_of(setting: Setting) -> dict[str, Any]:
    """A line of the CSV."""
    torch.set_num_threads(1)
    block = blocks.best(setting.architecture, setting.program, setting.dtype, setting.size)
    return setting._asdict() | block._asdict() | used(compiled(setting))._asdict()


def write(rows: list[dict[str, Any]], folder: Path) -> None:
    """triton-compiled.csv, and triton-compiled.json with what it was made of."""
    with (folder / f"{FILE}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    about = {
        "command": "python -m tests.attention.triton_compiled --out benchmarks/results",
        "triton": importlib.metadata.version("triton"),
        "source": source_hash(),
        "meaning": "compiled for GPUs that were not there: nothing was run, nothing was timed",
    }
    (folder / f"{FILE}.json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")


def main(words: list[str] | None = None) -> int:
    """Compile, print, write; 1 if anything does not fit its GPU."""
    parser = argparse.ArgumentParser(prog="python -m tests.attention.triton_compiled", description=__doc__)
    parser.add_argument("--out", type=Path, help="folder for triton-compiled.csv; none: print only")
    parser.add_argument(
        "--architecture", type=int, action="append", help="only this one, e.g. 90; may be repeated"
    )
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    asked = parser.parse_args(words)
    settings = [x for x in promised() if not asked.architecture or x.architecture in asked.architecture]
    rows = []
    with ProcessPoolExecutor(asked.jobs, mp_context=get_context("spawn")) as pool:
        for row in pool.map(row_of, settings):
            print(*row.values(), flush=True)
            rows.append(row)
    if asked.out:
        write(rows, asked.out)
    return 0 if all(map(fits, rows)) else 1


def fits(row: dict[str, Any]) -> bool:
    """Whether the GPU has that much shared memory, and a thread spills no more than the table says."""
    about = blocks.ARCHITECTURES[int(row["architecture"])]
    bounds = blocks.SPILLED_BYTES["float32" if row["dtype"] == "float32" else "half"]
    return (
        int(row["shared_bytes"]) <= about.shared_bytes
        and int(row["spilled_bytes"]) <= bounds[int(row["size"])]
    )


if __name__ == "__main__":
    sys.exit(main())
