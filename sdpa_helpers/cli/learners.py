"""The commands that everybody has: `sdpa doctor`, `sdpa check`, `sdpa bench`."""

import json
import os
from pathlib import Path
from typing import Annotated

import typer

from sdpa_helpers.cli.options import Memory, Seconds, limits
from sdpa_helpers.cli.printing import complain_of, say_uncut
from sdpa_helpers.cli.refuse import refuse_unknown, refuses
from sdpa_helpers.cli.startup import quick_imports
from sdpa_helpers.grading.refusal import Refusal


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for machines.")] = False,
) -> None:
    """Look at this machine: Python, packages, GPU, kernel. Exit 0 when the course can run."""
    from dataclasses import asdict

    from sdpa_helpers.lessons.checkup import Doctor

    report = Doctor()
    if as_json:
        print(json.dumps({"can_run": report.can_run, "facts": [asdict(f) for f in report.facts]}, indent=1))
    else:
        say_uncut(str(report))
    raise typer.Exit(0 if report.can_run else 1)


@refuses
def check(
    notebooks: Annotated[
        list[Path], typer.Argument(help="Your exercise notebooks, e.g. exercises/01_dot_product.ipynb")
    ],
    timeout: Seconds = 60.0,
    memory: Memory = 4096,
) -> None:
    """Check your own notebook: exit 0 when all passes, 1 when not, 2 when a file cannot be used."""
    with quick_imports():
        from sdpa_helpers.checking.judge import PUBLIC_SEED
        from sdpa_helpers.grading.grade_one import Settings, grade
        from sdpa_helpers.grading.read import Submission, notebook_of
        from sdpa_helpers.grading.report import report
        from sdpa_helpers.lessons.registry import LESSONS

    worst = 0
    settings = Settings(PUBLIC_SEED, limits(timeout, memory))
    for path in notebooks:
        name = notebook_of(path.name, list(LESSONS))
        there = os.path.isfile(path)  # Path.is_file raises an error for a name that is too long
        if not there or name is None:
            reason = "no such file" if not there else f"expected a name like {', '.join(LESSONS)}"
            complain_of(f"{path}: {reason}", "bold")
            worst = 2
            continue
        result = grade(Submission("you", name, path), settings)
        say_uncut(report(result))
        if result.status == "unreadable":
            worst = 2
        elif any(exercise.points < exercise.max_points for exercise in result.code):
            worst = max(worst, 1)
    raise typer.Exit(worst)


@refuses
def bench(
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Folder for attention.csv, .json and .png; default: only print."),
    ] = None,
    rounds: Annotated[int, typer.Option(min=1, help="Rounds in which every backend takes its turn.")] = 9,
    shape: Annotated[
        list[str] | None,
        typer.Option(help="batch,heads,length,features; may be repeated. Default: the course's three."),
    ] = None,
    device: Annotated[
        str, typer.Option(help='"cpu"; "cuda": Triton against torch\'s FLASH and cuDNN kernels on this GPU.')
    ] = "cpu",
) -> None:
    """Time every attention backend against torch's fused call: one thread, medians of interleaved rounds."""
    refuse_unknown("--device", device, ("cpu", "cuda"))
    from sdpa_helpers.bench.attention_cpu import run

    try:
        shapes = [tuple(int(n) for n in text.split(",")) for text in shape or []]
        if any(len(sizes) != 4 or min(sizes) < 1 for sizes in shapes):
            raise ValueError
    except ValueError:
        raise Refusal(f"--shape {' '.join(shape or [])}: expected e.g. 1,8,1024,64") from None
    if device == "cuda":
        from sdpa_helpers.bench import attention_cuda as bench_cuda

        if not bench_cuda.device_name():
            raise Refusal(
                "--device cuda: torch sees no CUDA device here; nothing was measured. Without it: the CPU"
            )
        bench_cuda.run(out, rounds, shapes or None)
        return
    run(out, rounds, shapes or None)
