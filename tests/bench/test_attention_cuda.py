"""What can be tested of the GPU's benchmark without one: what it refuses, and what it does with what it measures."""

import csv
import json
import subprocess
import sys

import pytest

from sdpa_helpers.bench import attention_cuda as bench_cuda


def test_without_a_gpu_nothing_is_measured(needs, tmp_path):
    needs("torch")
    if bench_cuda.device_name():
        pytest.skip("a CUDA device is here: it would be measured")
    command = [sys.executable, "-m", "sdpa_helpers", "bench", "--device", "cuda", "--out", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 2
    assert "torch sees no CUDA device here; nothing was measured" in " ".join(done.stderr.split())
    assert not list(tmp_path.iterdir())


@pytest.fixture
def rows(needs, monkeypatch):
    """Of one setting, with times that are given: FLASH 2 ms, Triton 1 ms; cuDNN raises, torch-fused cannot."""
    needs("torch")
    import torch

    def raises():
        raise RuntimeError("no such kernel\nand more")

    def contestants(*setting):
        flash, triton = (lambda: torch.full((4,), 2.0)), (lambda: torch.full((4,), 2.5))
        return {
            bench_cuda.FLASH: (flash, ""),
            bench_cuda.CUDNN: (raises, ""),
            "triton": (triton, ""),
            "torch-fused": (raises, "its reason"),
        }

    monkeypatch.setattr(bench_cuda, "contestants", contestants)
    monkeypatch.setattr(bench_cuda, "turn", lambda call, repeats: 2.0 if call()[0] == 2 else 1.0)
    return {row.backend: row for row in bench_cuda.measure((1, 2, 1000, 64), "float16", True, "forward", 3)}


def test_ratios_and_speed(rows):
    triton = rows["triton"]
    assert (triton.milliseconds, triton.ratio_to_flash, triton.ratio_to_cudnn) == (1.0, 0.5, None)
    assert triton.error == pytest.approx(0.25)
    # Two products of 2 n² d operations, half of them causal, for two heads.
    assert triton.teraflops == round(2 * 2 * 1000**2 * 64 * 2 / 2 / 1e-3 / 1e12, 1)


def test_what_was_not_measured_is_blank_and_says_why(rows, tmp_path):
    assert "not measured: RuntimeError: no such kernel" in bench_cuda.line(rows[bench_cuda.CUDNN])
    assert rows["torch-fused"].reason == "its reason"
    bench_cuda.write(list(rows.values()), {"device": "a GPU"}, tmp_path)
    with (tmp_path / "attention-cuda.csv").open(newline="", encoding="utf-8") as file:
        written = {row["backend"]: row for row in csv.DictReader(file)}
    assert written[bench_cuda.CUDNN]["milliseconds"] == ""
    assert written["triton"]["ratio_to_flash"] == "0.5"
    kept = json.loads((tmp_path / "attention-cuda.json").read_text(encoding="utf-8"))
    assert kept["device"] == "a GPU"
    assert kept["results"][1]["milliseconds"] is None
