"""`make portable`: the lessons and their tests as other processors would run them.

    python -m sdpa_helpers.classroom.processors [pytest's arguments]

OpenBLAS, torch with MKL and oneDNN, NumPy and Numba each choose their loops by the processor that they find, and
add in another order with each. Environment variables, read when a process loads them, make them take those of an older
one. What this machine's own processor cannot run is left out, with a line.
"""

import importlib
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sdpa_helpers.course.places import course_root

WHAT = ("--nbval", "--nbval-current-env", "notebooks", "tests/lessons")
"""What is run where the command line names nothing."""


@dataclass(frozen=True)
class Processor:
    """One kind of processor, and how to make every library believe in it."""

    name: str
    needs: frozenset[str]
    """Flags that /proc/cpuinfo has where its loops can run."""
    libraries: Mapping[str, str]
    """Environment variables of BLAS, MKL, oneDNN, torch and Numba."""
    without: tuple[str, ...]
    """NumPy's own names for what is newer begin with, or contain, one of these."""

    def environment(self) -> dict[str, str]:
        """The variables that a process has to start with."""
        newer = [name for name in _numpys_loops() if any(part in name for part in self.without)]
        return {**self.libraries, "NPY_DISABLE_CPU_FEATURES": " ".join(newer)}


def _libraries(openblas: str, torch: str, mkl: str, onednn: str, numba: str) -> dict[str, str]:
    return {
        "OPENBLAS_CORETYPE": openblas,
        "ATEN_CPU_CAPABILITY": torch,
        "MKL_CBWR": mkl,  # MKL_ENABLE_INSTRUCTIONS changes nothing on an AMD processor
        "ONEDNN_MAX_CPU_ISA": onednn,
        "NUMBA_CPU_NAME": numba,
        "NUMBA_CPU_FEATURES": "",
    }


NEHALEM = Processor(
    "Nehalem",
    frozenset({"sse4_2"}),
    _libraries("Nehalem", "default", "COMPATIBLE", "SSE41", "nehalem"),
    ("V3", "V4", "AVX", "FMA", "F16C"),
)
HASWELL = Processor(
    "Haswell",
    frozenset({"avx2", "fma"}),
    _libraries("Haswell", "avx2", "AVX2", "AVX2", "haswell"),
    ("V4", "AVX512"),
)
SKYLAKE = Processor(
    "SkylakeX",
    frozenset({"avx512f", "avx512dq", "avx512bw", "avx512vl"}),
    _libraries("SkylakeX", "avx512", "AVX512", "AVX512_CORE", "skylake-avx512"),
    ("AVX512_ICL", "AVX512_SPR"),
)
PROCESSORS = (NEHALEM, HASWELL, SKYLAKE)
"""From 2008, 2013 (AMD's Zen takes its loops too) and 2017."""


def _numpys_loops() -> list[str]:
    """The kinds of loops that this NumPy can choose among: another version has other names for them."""
    return list(importlib.import_module("numpy._core._multiarray_umath").__cpu_dispatch__)


def flags() -> frozenset[str]:
    """What the processor of this machine has; nothing where /proc/cpuinfo does not tell."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text(encoding="utf-8").splitlines() if cpuinfo.exists() else []
    return frozenset(
        word for line in lines if line.startswith("flags") for word in line.split(":")[1].split()
    )


@contextmanager
def as_if_on(processor: Processor) -> Iterator[None]:
    """Processes that start meanwhile take this processor's loops; this one has chosen long ago."""
    before = {name: os.environ.get(name) for name in processor.environment()}
    os.environ.update(processor.environment())
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def main(arguments: list[str]) -> int:
    """Run pytest once for each kind; 0 where all are green."""
    failed = []
    for processor in PROCESSORS:
        if lacking := sorted(processor.needs - flags()):
            print(f"{processor.name}: left out, this processor has no {', '.join(lacking)}", flush=True)
            continue
        print(f"{processor.name}:", flush=True)
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *(arguments or WHAT)]
        if subprocess.run(command, cwd=course_root(), env=os.environ | processor.environment()).returncode:
            failed.append(processor.name)
    print(f"red on {', '.join(failed)}" if failed else "green on every processor that was tried", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
