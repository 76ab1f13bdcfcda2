"""Every attention backend against torch's fused call: time, memory, share of the matrix products' speed.

    python benchmarks/attention.py          the same as: sdpa bench --out benchmarks/results

writes attention.csv, .json, .png and attention-ratios.png there; options of `sdpa bench` may follow. It takes some
minutes on 2 cores. How it measures is told in sdpa_helpers/bench/attention_cpu.py.
"""

import os
import sys
from pathlib import Path

from sdpa_helpers.cli.app import main

if __name__ == "__main__":
    results = os.path.relpath(Path(__file__).parent / "results")
    sys.argv = ["sdpa", "bench", "--out", results, *sys.argv[1:]]
    main()
