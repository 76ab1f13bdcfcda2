"""How big the house is: lines of Python, JavaScript and pages by room. `make sizes` prints them."""

from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
ENDINGS = (".py", ".js", ".mjs", ".css", ".md")
ROOMS = ("sdpa_helpers/*", "editions", "benchmarks", "tests")
CEILINGS = {
    "benchmarks": 2_490,
    "editions": 9_050,
    "exercises, Python": 1_300,
    "exercises, pages": 13_510,
    "sdpa_helpers/attention": 7_700,
    "sdpa_helpers/bench": 1_300,
    "sdpa_helpers/checking": 10_980,
    "sdpa_helpers/classroom": 14_520,
    "sdpa_helpers/cli": 2_150,
    "sdpa_helpers/course": 9_100,
    "sdpa_helpers/desk": 2_150,
    "sdpa_helpers/grading": 3_460,
    "sdpa_helpers/head": 1_210,
    "sdpa_helpers/lessons": 21_430,
    "sdpa_helpers/sandbox": 4_000,
    "sdpa_helpers/show": 5_250,
    "tests": 50_290,
}
"""No room grows past its ceiling: lower one when a room has shrunk, and raise it only with a reason in the commit."""
LARGEST_PAGE = 350
"""Lines of an exercise's page."""
LARGEST_MODULE = 400
"""Lines of a module of Python."""


def sizes() -> dict[str, int]:
    """Room → lines. The exercises have a room of their own: "exercises, pages" and "exercises, Python"."""
    found = Counter[str]()
    for pattern in ROOMS:
        for room in filter(Path.is_dir, ROOT.glob(pattern)):
            for path in room.rglob("*"):
                if path.suffix in ENDINGS and not {"__pycache__", "node_modules", "dist"} & {*path.parts}:
                    found[_room(path)] += len(path.read_bytes().splitlines())
    return dict(sorted(found.items()))


def _room(path: Path) -> str:
    parts = path.relative_to(ROOT).parts
    if "exercises" in parts and parts[0] == "sdpa_helpers":
        return "exercises, pages" if path.suffix == ".md" else "exercises, Python"
    return "/".join(parts[:2]) if parts[0] == "sdpa_helpers" else parts[0]


def modules() -> dict[str, int]:
    """Module → its lines, of all rooms."""
    found = [path for pattern in ROOMS for room in ROOT.glob(pattern) for path in room.rglob("*.py")]
    return {path.relative_to(ROOT).as_posix(): len(path.read_bytes().splitlines()) for path in found}


def pages() -> dict[str, int]:
    """Exercise → lines of its page."""
    found = ROOT.glob("sdpa_helpers/lessons/*/exercises/*.md")
    return {path.stem: len(path.read_bytes().splitlines()) for path in found}


if __name__ == "__main__":
    for name, lines in sizes().items():
        print(f"{lines:7,}  {name}")
    print(f"{sum(sizes().values()):7,}  in all")
    print(f"{sum(pages().values()) / len(pages()):7.0f}  a page of an exercise, of {len(pages())}")
