"""How large the tiles of each program are, for each kind of GPU: a table.

Large tiles need fewer corrections and fewer loads for each score. What limits them are the 255 registers of a thread,
beyond which numbers spill to slow memory, and the shared memory that holds the tiles being multiplied and those that
are fetched ahead. Both are known without a GPU: `tests/attention/triton_compiled.py` compiles every entry for its GPU
and says what it uses (benchmarks/results/triton-compiled.csv). None of it was timed: of the tiles that fit, these are
large ones.
"""

from __future__ import annotations

from typing import NamedTuple


class Block(NamedTuple):
    """The tile of one program: queries × keys, and how it is worked on."""

    rows: int
    columns: int
    warps: int  # groups of 32 threads that share it
    stages: int  # how many tiles are in shared memory at once, being multiplied or on their way
    warp_specialize: bool = False  # some warps only fetch, some only start products


Table = dict[str, dict[int, Block]]
"""By program, and by the size of a head, at most."""


class Architecture(NamedTuple):
    """GPUs of one compute capability."""

    names: str
    shared_bytes: int  # of shared memory, for one block of threads
    copy_engine: bool  # whether half precision is fetched by descriptors (TMA)
    half: Table  # for float16 and bfloat16


PROGRAMS = ("forward", "query_gradient", "key_gradients")
SIZES = (64, 128, 256)
LARGEST_HEAD = max(SIZES)

SPILLED_BYTES = {"half": {64: 16, 128: 16, 256: 0}, "float32": {64: 96, 128: 256, 256: 768}}
"""What a thread spills at most, by the size of a head. In half precision it is 0 but for two programs."""

A100: Table = {
    "forward": {64: Block(128, 64, 8, 3), 128: Block(128, 64, 8, 2), 256: Block(64, 64, 8, 2)},
    "query_gradient": {64: Block(128, 64, 8, 3), 128: Block(64, 64, 8, 2), 256: Block(64, 64, 8, 2)},
    "key_gradients": {64: Block(64, 128, 8, 3), 128: Block(64, 64, 8, 2), 256: Block(32, 32, 8, 2)},
}
RTX: Table = {  # the same instructions, less shared memory
    "forward": {64: Block(128, 64, 8, 3), 128: Block(128, 64, 8, 2), 256: Block(64, 32, 8, 2)},
    "query_gradient": {64: Block(128, 64, 8, 3), 128: Block(64, 64, 8, 2), 256: Block(32, 32, 8, 2)},
    "key_gradients": {64: Block(64, 128, 8, 3), 128: Block(64, 64, 8, 2), 256: Block(32, 32, 8, 2)},
}
HOPPER: Table = {
    "forward": {64: Block(128, 128, 8, 3), 128: Block(128, 128, 8, 2), 256: Block(128, 64, 8, 2)},
    "query_gradient": {64: Block(128, 64, 8, 3), 128: Block(128, 128, 8, 2), 256: Block(64, 64, 8, 2)},
    "key_gradients": {64: Block(64, 128, 8, 3), 128: Block(64, 128, 8, 2), 256: Block(16, 64, 8, 2)},
}
BLACKWELL: Table = {
    "forward": {64: Block(128, 128, 8, 3), 128: Block(128, 128, 8, 2), 256: Block(128, 64, 8, 2)},
    "query_gradient": {64: Block(128, 64, 8, 3), 128: Block(128, 64, 8, 2), 256: Block(64, 32, 8, 2)},
    "key_gradients": {64: Block(64, 128, 8, 3), 128: Block(64, 128, 8, 2), 256: Block(32, 64, 8, 2)},
}
# A product of float32 matrices is three of shorter numbers, which all want registers. On every GPU small tiles are
# fetched by plain loads: there fewer spill than with descriptors.
FLOAT32: Table = {
    "forward": {64: Block(32, 32, 4, 1), 128: Block(32, 32, 4, 1), 256: Block(16, 32, 4, 1)},
    "query_gradient": {64: Block(32, 32, 4, 1), 128: Block(16, 32, 4, 1), 256: Block(16, 16, 4, 1)},
    "key_gradients": {64: Block(32, 32, 4, 1), 128: Block(32, 32, 8, 1), 256: Block(16, 16, 4, 1)},
}

ARCHITECTURES = {
    80: Architecture("A100", 163 * 1024, False, A100),
    86: Architecture("RTX 30, A10", 99 * 1024, False, RTX),
    89: Architecture("RTX 40, L4, L40", 99 * 1024, False, RTX),
    90: Architecture("H100, H200", 227 * 1024, True, HOPPER),
    100: Architecture("B200", 227 * 1024, True, BLACKWELL),
    # It has a copy engine, but with descriptors its tiles spill, with plain loads they do not.
    120: Architecture("RTX 50", 99 * 1024, False, RTX),
}
"""By compute capability, 90 for 9.0."""


def best(architecture: int, program: str, dtype: str, size: int) -> Block:
    """The tile of that program for heads of so many features."""
    table = FLOAT32 if dtype == "float32" else ARCHITECTURES[architecture].half
    return next(block for largest, block in table[program].items() if size <= largest)


def has_descriptors(architecture: int, dtype: str) -> bool:
    """Whether matrices are handed over as descriptors for the copy engine."""
    return ARCHITECTURES[architecture].copy_engine and dtype != "float32"


def unsupported(architecture: int) -> str:
    """Why there is no tile for such a GPU; "" if there is."""
    if architecture in ARCHITECTURES:
        return ""
    has = f"{architecture // 10}.{architecture % 10}"
    known = ", ".join(
        f"{number // 10}.{number % 10} ({about.names})" for number, about in ARCHITECTURES.items()
    )
    reason = f"its tiles are for GPUs of compute capability {known}, not {has}"
    # Tried for 7.5: what comes out has no instruction of the tensor cores, and spills with the smallest tiles.
    return (
        f"{reason}: for that, Triton compiles products without tensor cores" if architecture < 80 else reason
    )
