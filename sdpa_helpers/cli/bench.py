"""The command `sdpa bench`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sdpa_helpers.cli.refuse import refuse_unknown, refuses
from sdpa_helpers.grading.refusal import Refusal

if TYPE_CHECKING:
    from sdpa_helpers.bench.settings import Shape

Several = list[str] | None
BACKENDS = "numpy, numpy-tiled, numba, torch, torch-tiled, torch-fused, jax"  # contestants.on_a_cpu()


Out = Annotated[
    Path | None,
    typer.Option("--out", help="Folder for attention.csv, .json and two figures; default: only print."),
]
Rounds = Annotated[
    int | None,
    typer.Option(min=1, help="Rounds in which every backend takes its turn. Default: 9; --quick: 5."),
]
Shapes = Annotated[
    Several,
    typer.Option(
        help="batch,heads,length,features; repeatable, like --mask, --dtype, --direction, --backend, --threads."
    ),
]
Masks = Annotated[
    Several,
    typer.Option(help="full, causal, bool, float, padding-50 or padding-90 (percent of the keys)."),
]
Dtypes = Annotated[Several, typer.Option(help="float32, float64 or bfloat16.")]
Directions = Annotated[Several, typer.Option(help="forward or backward.")]
Backends = Annotated[Several, typer.Option(help=f"Timed beside F.sdpa: {BACKENDS}. Default: all installed.")]
Threads = Annotated[Several, typer.Option(help='A number of threads, or "all". Default: 1 and all.')]
Busy = Annotated[int, typer.Option(min=0, help="Number of background processes that load the CPU.")]
Memory = Annotated[bool, typer.Option(help="Measure peak memory too, on Linux.")]
Quick = Annotated[
    bool,
    typer.Option(
        "--quick",
        help="Fewer settings, fewer rounds, no memory: half a minute; on a busy machine two minutes.",
    ),
]
Device = Annotated[
    str, typer.Option(help='"cpu"; "cuda": Triton against torch\'s FLASH and cuDNN kernels on this GPU.')
]


@refuses
def bench(
    out: Out = None,
    rounds: Rounds = None,
    shape: Shapes = None,
    mask: Masks = None,
    dtype: Dtypes = None,
    direction: Directions = None,
    backend: Backends = None,
    threads: Threads = None,
    busy: Busy = 0,
    memory: Memory = True,
    quick: Quick = False,
    device: Device = "cpu",
) -> None:
    """Time every attention backend against torch's fused call.

    It prints medians of the ratios of interleaved rounds.

    Without --shape, --mask, --dtype and --direction: lengths from 16 to 8192, other shapes, masks, dtypes, backward
    passes, at one thread and at all. With one of them: all combinations of what is named.
    """
    refuse_unknown("--device", device, ("cpu", "cuda"))
    shapes = tuple(map(_shape, shape or ()))
    if device == "cuda":
        from sdpa_helpers.bench import attention_cuda as bench_cuda

        if not bench_cuda.device_name():
            raise Refusal(
                "--device cuda: torch sees no CUDA device here; nothing was measured. Without it: the CPU"
            )
        bench_cuda.run(out, rounds or 9, list(shapes) or None)
        return
    from sdpa_helpers.bench import attention_cpu, contestants, settings

    known = {
        "--mask": (mask, settings.MASKS),
        "--dtype": (dtype, settings.DTYPES),
        "--direction": (direction, settings.DIRECTIONS),
        "--backend": (backend, contestants.on_a_cpu()),
    }
    for option, (values, allowed) in known.items():
        for value in values or ():
            refuse_unknown(option, value, allowed)
    asked = settings.BenchOptions(
        shapes, tuple(mask or ()), tuple(dtype or ()), tuple(direction or ()), quick
    )
    numbers = tuple(map(_threads, threads or ("1", "all")))
    if quick and any(asked[:4]):
        raise Refusal(
            "--quick measures settings of its own. With --shape, --mask, --dtype or --direction say --rounds 5 "
            "--no-memory instead"
        )
    how = attention_cpu.How(rounds or (5 if quick else 9), numbers, tuple(backend or ()), memory, busy)
    attention_cpu.run(settings.plan(asked), how, out)


def _shape(text: str) -> "Shape":
    sizes = text.split(",")
    if len(sizes) != 4 or not all(size.strip().isdecimal() and int(size) > 0 for size in sizes):
        raise Refusal(f"--shape {text}: expected e.g. 1,8,1024,64")
    return tuple(map(int, sizes))


def _threads(text: str) -> int:
    if text == "all":
        return 0
    if not text.isdecimal() or int(text) < 1:
        raise Refusal(f'--threads {text}: expected a number from 1, or "all"')
    return int(text)
