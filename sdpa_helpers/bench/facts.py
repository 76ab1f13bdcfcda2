"""What a measurement depends on: the machine, how busy it is, versions, threads."""

from __future__ import annotations

import datetime
import importlib.metadata
import os
import platform
from typing import Any

from threadpoolctl import threadpool_info

from sdpa_helpers.attention.threads import cores
from sdpa_helpers.course.shipped import processor

PACKAGES = ("numpy", "torch", "scipy", "numba", "jax")
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def load() -> list[float]:
    """Processes that wanted a processor, on average over 1, 5 and 15 minutes; empty where nobody counts them."""
    return [round(x, 2) for x in os.getloadavg()] if hasattr(os, "getloadavg") else []


def environment_for(threads: int) -> dict[str, str]:
    """For a process that uses so many threads; 0: whatever each library takes by itself."""
    outside = {key: value for key, value in os.environ.items() if key not in THREADS}
    if not threads:
        return outside
    one_for_jax = {"XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false"} if threads == 1 else {}
    return outside | dict.fromkeys(THREADS, str(threads)) | one_for_jax


def of_this_process() -> dict[str, Any]:
    """Threads of torch and of each BLAS that is loaded, asked in the process that measures."""
    import torch

    blas = {x["prefix"]: x["num_threads"] for x in threadpool_info() if x["user_api"] == "blas"}
    return {"torch": torch.get_num_threads(), **blas}


def of_this_machine() -> dict[str, Any]:
    """What stays the same during a run."""
    return {
        "date": datetime.date.today().isoformat(),
        "processor": processor(),
        "cores": cores(),
        "system": platform.system(),
        "python": platform.python_version(),
        **{name: version for name in PACKAGES if (version := _version(name))},
    }


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""
