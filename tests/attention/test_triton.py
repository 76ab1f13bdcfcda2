"""The Triton backend without a GPU: its programs in Triton's interpreter, and compiled for GPUs that are not there.

The interpreter is chosen by an environment variable before Triton is loaded, and the rest of the suite must not see
it: what runs in it runs in a process of its own.
"""

import csv
import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import sdpa_helpers as sdpa
from tests.nightly import at_night

HERE = Path(__file__).parent
LARGEST_REGISTERS = 255  # of a thread; what does not fit spills to slow memory

LEAST = {
    "triton_interpreted.py": 40,
    "test_conformance.py": 20,
    "test_gradients.py": 1,
    "test_any_size.py": 20,
}
"""What is run in the interpreter → more tests than these pass there."""

# Of the suite that every backend is put through, what is not in float64 (that, Triton leaves to the formula). Of
# numbers of any size fewer than of other backends: the interpreter takes its time.
CHOSEN = (
    "test_dtypes or test_half_precision or test_values_near or (test_scores_small and float32) or of_any_size"
    " or of_float64 or very_large or does_not_hold or its_gradients"
)


@pytest.fixture
def triton(needs):
    needs("torch")
    needs("triton")
    import triton

    return triton


@pytest.fixture(scope="module", params=["not nightly", at_night("nightly or not nightly")])
def interpreted(needs, request) -> Counter[str]:
    """How many tests of each file passed in one process where Triton interprets its programs; none failed."""
    needs("torch")
    needs("triton")
    settings = {name: text for name, text in os.environ.items() if not name.startswith("PYTEST_")}
    options = ["-v", "-p", "no:cacheprovider", "-p", "no:randomly", "-m", request.param]
    options += ["-k", f"interpreted or triton and ({CHOSEN})"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *(str(HERE / name) for name in LEAST)],
        env=settings | {"TRITON_INTERPRET": "1", "OMP_NUM_THREADS": "1"},
        cwd=HERE.parents[1],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
    return Counter(re.findall(r"(\w+\.py)::\S.* PASSED", done.stdout))


@pytest.mark.parametrize("file", LEAST)
def test_in_the_interpreter(interpreted, file):
    assert interpreted[file] > LEAST[file]


def test_where_it_cannot_run_it_is_not_listed_and_says_why(triton, torch):
    if torch.cuda.is_available():
        pytest.skip("a CUDA device is here: it can run")
    assert "triton" not in sdpa.backends()
    with pytest.raises(ValueError, match=r"backend 'triton' needs an NVIDIA GPU .* TRITON_INTERPRET=1"):
        sdpa.scaled_dot_product_attention(*torch.ones(3, 2, 4), backend="triton")


# The lists of tiles ----------------------------------------------------------------------------------------


def masks(torch, name: str):
    """(2, 3, 50, 70), as broadcasting makes them."""
    shape = (2, 3, 50, 70)
    i, j = torch.arange(50)[:, None], torch.arange(70)
    if name == "window":
        return ((i - j).abs() < 20).expand(shape)
    if name == "padding":
        return (j < torch.tensor([40, 0])[:, None, None, None]).expand(shape)
    if name == "of heads":
        return (torch.rand(1, 3, 50, 70, generator=torch.Generator().manual_seed(0)) < 0.01).expand(shape)
    return torch.ones(shape, dtype=torch.bool)


@pytest.mark.parametrize("mask", ["window", "padding", "of heads", "all"])
@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("of_keys", [False, True])
def test_lists_of_tiles(torch, mask, is_causal, of_keys):
    """Against each tile looked at by itself: where it is listed, and the booleans kept of it."""
    from sdpa_helpers.attention.triton import lists

    mask = masks(torch, mask)
    grid = lists.Grid(50, 70, 16, 32)
    made = lists.lists_for(mask, lists.seen_in_tiles(mask), grid, is_causal, of_keys=of_keys)
    assert all(x.is_contiguous() for x in made[:3])  # programs count on it
    allowed = torch.zeros(2, 3, 64, 96, dtype=torch.bool)
    allowed[:, :, :50, :70] = mask
    exact = allowed.tril() if is_causal else allowed
    lines, places = (3, 4) if of_keys else (4, 3)
    for batch, head, line, place in np.ndindex(2, 3, lines, places):
        i, j = (place, line) if of_keys else (line, place)
        rows, columns = slice(16 * i, min(16 * i + 16, 50)), slice(32 * j, 32 * j + 32)
        number = batch * made.lines_of_batch + head * made.lines_of_head + line
        full, some = made.numbers[number].tolist()
        order = made.order[number].tolist()
        assert (place in order[:full]) == bool(exact[batch, head, rows, columns].all())
        hidden = not exact[batch, head, rows, columns].any()
        # With causality a tile may be visited although mask and diagonal together hide all of it; never missed.
        assert place not in order[full:some] if hidden and not is_causal else hidden or place in order[:some]
        shown = batch * made.shown_of_batch + head * made.shown_of_head
        shown += line * made.shown_of_line + place * made.shown_of_tile
        kept = made.shown.flatten()[shown : shown + 16 * 32].view((32, 16) if of_keys else (16, 32)).bool()
        kept = kept.mT if of_keys else kept
        assert (kept[: rows.stop - rows.start] == allowed[batch, head, rows, columns]).all()


def test_lists_are_as_small_as_the_mask(torch):
    """What all sequences, heads or queries share is kept once."""
    from sdpa_helpers.attention.triton import lists

    grid = lists.Grid(50, 70, 16, 32)
    sizes = {}
    for name in ("window", "padding", "of heads"):
        mask = masks(torch, name)
        made = lists.lists_for(mask, lists.seen_in_tiles(mask), grid, False, of_keys=False)
        sizes[name] = (len(made.numbers), made.shown.numel())
    assert sizes == {"window": (4, 64 * 96), "padding": (8, 2 * 16 * 96), "of heads": (12, 3 * 64 * 96)}


# Compiled for GPUs that are not here ------------------------------------------------------------------------


@pytest.fixture
def compiled(triton, torch, monkeypatch, tmp_path):
    """The file that compiles programs for GPUs that are not here; nothing is taken from an earlier run."""
    from . import triton_compiled as compiled

    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    return compiled


TENSOR_CORES = {**dict.fromkeys((80, 86, 89, 120), "mma.sync"), 90: "wgmma", 100: "tcgen05.mma"}

# Of each program and kind of tensor core something, at night of each architecture; the rest is in
# benchmarks/results/triton-compiled.csv, of which a test below sees that it is of this source.
SETTINGS = [
    (80, "float16", 64, "forward", "causal mask"),
    (89, "bfloat16", 64, "query_gradient", "full"),
    (90, "float16", 128, "key_gradients", "full"),
    (100, "bfloat16", 64, "forward", "causal"),
]
MORE_SETTINGS = [
    (86, "bfloat16", 64, "key_gradients", "causal"),
    (89, "float32", 64, "forward", "causal"),
    (90, "bfloat16", 64, "forward", "causal"),
    (90, "float16", 128, "forward", "causal mask"),
    (90, "bfloat16", 128, "query_gradient", "causal"),
    (100, "float16", 128, "key_gradients", "causal"),
    (120, "bfloat16", 64, "forward", "full"),
]


@pytest.mark.parametrize("setting", [*SETTINGS, *map(at_night, MORE_SETTINGS)])
def test_a_program_fits_its_gpu(compiled, setting):
    """With the tile that it has there: no register spills, there is enough shared memory, tensor cores are used."""
    from sdpa_helpers.attention.triton import blocks

    setting = compiled.Setting(*setting)
    program = compiled.compiled(setting)
    used = compiled.used(program)
    assert program.metadata.name == setting.program
    assert 0 < used.registers <= LARGEST_REGISTERS
    assert compiled.fits(setting._asdict() | used._asdict()), used
    assert TENSOR_CORES[setting.architecture] in program.asm["ptx"]
    descriptors = blocks.has_descriptors(setting.architecture, setting.dtype)
    assert ("cp.async.bulk.tensor" in program.asm["ptx"]) == descriptors


def test_all_that_is_promised_was_compiled_from_this_source(compiled):
    """The table of registers is of these programs and these tiles, and everything in it fits."""
    folder = HERE.parents[1] / "benchmarks" / "results"
    about = json.loads((folder / "triton-compiled.json").read_text(encoding="utf-8"))
    assert about["source"] == compiled.source_hash(), f"another source: run {about['command']}"
    with (folder / "triton-compiled.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    found = [tuple(row[name] for name in compiled.Setting._fields) for row in rows]
    assert found == [tuple(map(str, setting)) for setting in compiled.promised()]
    assert [row for row in rows if not compiled.fits(row)] == []


def test_the_source_that_is_compared_is_without_comments(compiled, monkeypatch, tmp_path):
    text = Path(compiled.kernels.__file__).read_text(encoding="utf-8")
    same, other = tmp_path / "same.py", tmp_path / "other.py"
    same.write_text(text.replace("# −D is", "# D is").replace("One block", "A block"), encoding="utf-8")
    other.write_text(text.replace("float32)", "float16)", 1), encoding="utf-8")
    before = compiled.source_hash()
    monkeypatch.setattr(compiled.kernels, "__file__", str(same))
    assert compiled.source_hash() == before
    monkeypatch.setattr(compiled.kernels, "__file__", str(other))
    assert compiled.source_hash() != before


def test_other_gpus_are_refused_by_name(triton, torch):
    from sdpa_helpers.attention.triton import blocks

    assert blocks.unsupported(90) == ""
    turing, newest = blocks.unsupported(75), blocks.unsupported(130)
    assert re.search(r"8\.0 \(A100\), .* 9\.0 \(H100, H200\), .* not 7\.5: .* without tensor cores", turing)
    assert newest.endswith("not 13.0")


# On a GPU --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mask", [None, "padding", "boolean"])
@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize(
    ("d", "dtype"), [(64, "float16"), (64, "bfloat16"), (128, "float16"), (100, "bfloat16"), (64, "float32")]
)
def test_on_a_gpu(triton, torch, d, dtype, is_causal, mask):
    """The real programs, with their own tiles, on lengths that are no multiple of them; grouped heads."""
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device here")
    torch.manual_seed(0)
    shapes = [(2, 4, 700, d), (2, 2, 900, d), (2, 2, 900, d)]
    leaves = [torch.randn(x, device="cuda", dtype=getattr(torch, dtype), requires_grad=True) for x in shapes]
    allowed = None
    if mask == "padding":
        allowed = torch.tensor(sdpa.padding_mask([850, 0], 900), device="cuda")[:, None, None, :]
    if mask == "boolean":
        allowed = torch.rand(2, 1, 700, 900, device="cuda") < 0.5
    options = {"is_causal": is_causal, "enable_gqa": True}
    assert sdpa.explain_backend(*leaves, allowed, **options, backend="triton").backend == "triton"
    output = sdpa.scaled_dot_product_attention(*leaves, allowed, **options, backend="triton")
    grad_output = torch.randn_like(output)
    computed = [output, *torch.autograd.grad(output, leaves, grad_output)]
    exact = [x.detach().double().requires_grad_() for x in leaves]
    output = sdpa.scaled_dot_product_attention(*exact, allowed, **options, backend="torch")
    expected = [output, *torch.autograd.grad(output, exact, grad_output.double())]
    tolerance = {"float16": 2e-3, "bfloat16": 1e-2, "float32": 1e-5}[dtype]
    for ours, theirs in zip(computed, expected, strict=True):
        assert (ours.double() - theirs).norm() <= tolerance * theirs.norm()
