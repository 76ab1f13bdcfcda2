"""The peak memory of one call, beyond what there was before it: each call in a process of its own. Linux only.

It is the process's own peak (VmHWM): tracemalloc would not see what torch and BLAS take.
"""

from __future__ import annotations

import gc
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from sdpa_helpers.bench.contestants import call_of, names
from sdpa_helpers.bench.settings import Setting

PEAK_CAN_BE_RESET = Path("/proc/self/clear_refs")
AT_A_TIME = 2  # the calls need memory, and other programs shall not be pushed out of it
# Large arrays straight from the system and back: memory that the allocator keeps would hide what is new.
PLAIN = {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "65536"}


def extra_memory(
    settings: list[Setting], chosen: tuple[str, ...], environment: dict[str, str]
) -> dict[tuple[Setting, str], float]:
    """MiB of the call of each setting and name; the answer itself is part of it. Nothing where it cannot be seen."""
    if not PEAK_CAN_BE_RESET.exists():
        return {}
    calls = [(setting, name) for setting in settings for name in names(setting, chosen)]
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        found = pool.map(lambda call: _in_its_own_process(call[0], call[1], environment), calls)
        return {call: mib for call, mib in zip(calls, found, strict=True) if mib is not None}


def _in_its_own_process(setting: Setting, name: str, environment: dict[str, str]) -> float | None:
    command = [sys.executable, "-m", "sdpa_helpers.bench.peak_memory", json.dumps([name, *setting])]
    done = subprocess.run(
        command, env=environment | PLAIN, capture_output=True, text=True, check=False, timeout=600
    )
    return float(done.stdout) if done.returncode == 0 else None


def measure(name: str, setting: Setting) -> float:
    """MiB, in this process."""
    batch, heads, n, features = setting.shape
    call_of(name, setting._replace(shape=(batch, heads, min(n, 256), features)))()  # loads and compiles
    call = call_of(name, setting)
    gc.collect()
    PEAK_CAN_BE_RESET.write_text("5", encoding="ascii")  # VmHWM starts again from here
    before = _status("VmRSS")
    output = call()
    extra = _status("VmHWM") - before
    del output
    return round(extra, 1)


def _status(key: str) -> float:
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(key):
            return int(line.split()[1]) / 1024
    raise KeyError(key)


if __name__ == "__main__":
    asked, shape, *others = json.loads(sys.argv[1])
    print(measure(asked, Setting(tuple(shape), *others)))
