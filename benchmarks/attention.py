"""Every attention backend against torch's fused call: time, memory, share of the matrix products' speed.

    python benchmarks/attention.py          the same as: sdpa bench --out benchmarks/results

writes benchmarks/results/attention.csv, .json and .png. How it measures is told in sdpa_helpers/bench/attention_cpu.py.
"""

from pathlib import Path

from sdpa_helpers.bench.attention_cpu import run

if __name__ == "__main__":
    run(Path(__file__).parent / "results", rounds=9, shapes=None)
