"""The Triton backend without a GPU: its programs in Triton's interpreter, and compiled for an H100 that is not there.

The interpreter is chosen by an environment variable before Triton is loaded, and the rest of the suite must not see
it: what runs in it runs in a process of its own.
"""

import os
import re
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest

import sdpa_helpers as sdpa
from sdpa_helpers.attention.layout import Head, Rule, Wants

HERE = Path(__file__).parent
LARGEST_REGISTERS = 255  # of a thread; what does not fit spills to slow memory
# Triton 3.6 puts 40 bytes of key_gradients (causal, d 128) there, outside its main loop; 3.9 nothing.
SPILLED_BYTES = {(3, 6): 64}
SHARED_BYTES = 227 * 1024  # of a program on an H100

# Of the suite that every backend is put through, what is not in float64 (that, Triton leaves to the formula).
CONFORMANCE = "test_dtypes or test_half_precision or test_values_near or (test_scores_small and float32)"


@pytest.fixture
def triton(needs):
    needs("torch")
    needs("triton")
    import triton

    return triton


def pytest_in_the_interpreter(*arguments: str) -> str:
    """What pytest prints in a process where Triton interprets its programs."""
    settings = {name: text for name, text in os.environ.items() if not name.startswith("PYTEST_")}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:randomly",
        *arguments,
    ]
    done = subprocess.run(
        command,
        env=settings | {"TRITON_INTERPRET": "1", "OMP_NUM_THREADS": "1"},
        cwd=HERE.parents[1],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
    return done.stdout


def passed(printed: str) -> int:
    return int(re.findall(r"(\d+) passed", printed)[-1])


def test_interpreted(triton):
    assert passed(pytest_in_the_interpreter(str(HERE / "triton_interpreted.py"))) > 50


def test_conformance(triton):
    files = [str(HERE / name) for name in ("test_conformance.py", "test_gradients.py")]
    assert passed(pytest_in_the_interpreter(*files, "-k", f"triton and ({CONFORMANCE})")) > 20


def test_where_it_cannot_run_it_is_not_listed_and_says_why(triton, torch):
    if torch.cuda.is_available():
        pytest.skip("a CUDA device is here: it can run")
    assert "triton" not in sdpa.backends()
    with pytest.raises(ValueError, match=r"backend 'triton' needs an NVIDIA GPU .* TRITON_INTERPRET=1"):
        sdpa.scaled_dot_product_attention(*torch.ones(3, 2, 4), backend="triton")


# Compiled for an H100 --------------------------------------------------------------------------------------


class H100:
    """As much of Triton's driver as compiling asks."""

    def get_current_device(self):
        return 90  # programs are kept by this number: no real device's

    def get_current_stream(self, device):
        return 0

    def get_current_target(self):
        from triton.backends.compiler import GPUTarget

        return GPUTarget("cuda", 90, 32)


@pytest.fixture
def compiled(triton, monkeypatch, tmp_path):
    """The programs that calls of this test compile, by name; none is started."""
    from triton.runtime import driver
    from triton.runtime.jit import JITFunction

    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    real, found = JITFunction.run, {}

    def compile_only(self, *arguments, grid, warmup, **options):
        found[self.__name__] = real(self, *arguments, grid=grid, warmup=True, **options)

    monkeypatch.setattr(JITFunction, "run", compile_only)
    monkeypatch.setattr(driver, "_active", H100())
    return found


def resources(program, folder: Path) -> dict[str, int]:
    """Registers of a thread, and bytes that it spills: from the machine code, by the tool that Triton carries."""
    import triton.backends.nvidia as nvidia

    binary = folder / "program.cubin"
    binary.write_bytes(program.asm["cubin"])
    tool = Path(nvidia.__path__[0]) / "bin" / "cuobjdump"
    printed = subprocess.run([tool, "-res-usage", binary], capture_output=True, text=True, check=True).stdout
    return {name: int(number) for name, number in re.findall(r"(REG|STACK|LOCAL):(\d+)", printed)}


SETTINGS = [
    *product((64, 128), ("float16", "bfloat16"), (False, True), (None,)),
    (128, "bfloat16", False, "padding"),
]


@pytest.mark.parametrize(("d", "dtype", "is_causal", "mask"), SETTINGS)
def test_for_an_h100_no_register_spills(compiled, triton, torch, tmp_path, d, dtype, is_causal, mask):
    """The very launches of a call and its gradient, with the tiles that they have there."""
    from sdpa_helpers.attention.triton import launch as triton_flash

    leaves = [torch.zeros(1, 2, 1024, d, dtype=getattr(torch, dtype), requires_grad=True) for _ in range(3)]
    mask = None if mask is None else torch.ones(1, 1, 1, 1024, dtype=torch.bool)
    answer = triton_flash.attention(Head(*leaves), Rule(mask, is_causal, 0.1), Wants())
    answer.output.sum().backward()
    allowed = SPILLED_BYTES.get(tuple(map(int, triton.__version__.split(".")[:2])), 0)
    assert set(compiled) == {"forward", "query_gradient", "key_gradients"}
    for name, program in compiled.items():
        used = resources(program, tmp_path)
        assert used["LOCAL"] == 0, (name, used)
        assert used["STACK"] <= allowed, (name, used)
        assert 0 < used["REG"] <= LARGEST_REGISTERS, (name, used)
        assert program.metadata.shared <= SHARED_BYTES, name
        # The tensor cores of that GPU, and its copy engine, are what they are compiled to.
        assert "wgmma.mma_async" in program.asm["ptx"], name
        assert "cp.async.bulk.tensor" in program.asm["ptx"], name


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
