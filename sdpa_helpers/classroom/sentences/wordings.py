"""registered.toml, beside names.toml: which two wordings of a sentence are compared, written before anybody read them.

Who reads which is drawn from the seed in it and the reader's name. Without an entry here, or once either wording was
changed, all read the first.
"""

import hashlib
import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from sdpa_helpers.classroom.files import write_text
from sdpa_helpers.grading.refusal import Refusal

FILE = "registered.toml"
OUTCOME = "the same answer at the next check"
_FIELDS = {"question": str, "outcome": str, "learners": int, "when": str, "seed": str, "wordings": str}
_HEAD = """\
# What `sdpa study register` wrote before anybody had read either wording. It isn't made to be edited: a comparison
# whose plan follows its numbers says nothing.
"""


@dataclass(frozen=True)
class Registered:
    """The plan of one comparison."""

    question: str
    outcome: str
    learners: int
    """Who have to have tried again before anything is compared; later ones don't count."""
    when: str
    """ISO time with its zone: what was told earlier doesn't count."""
    seed: str
    wordings: str
    """`digest_of` both."""

    @property
    def since(self) -> float:
        """`when`, in seconds since 1970."""
        return datetime.fromisoformat(self.when).timestamp()


Plans = Mapping[tuple[str, str], Registered]
"""By exercise and answer's key."""


def digest_of(first: str, second: str) -> str:
    """Changes with any letter of either wording."""
    return hashlib.sha256(f"{first}\0{second}".encode()).hexdigest()


def reads_second(seed: str, answer: tuple[str, str], who: str) -> bool:
    """Whether somebody who gave this answer, (exercise, key), reads the second wording: a coin, always the same."""
    drawn = "\0".join((seed, *answer, who)).encode("utf-8", "surrogatepass")
    return hashlib.sha256(drawn).digest()[0] % 2 == 1


def read_plans(path: Path) -> dict[tuple[str, str], Registered]:
    """All that are registered in a file; {} where there is none."""
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
        return {
            (exercise, key): _plan(table)
            for exercise, answers in tables.items()
            for key, table in answers.items()
        }
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, AttributeError, TypeError) as error:
        raise Refusal(f"{path} cannot be read: {error}") from None


def write_plans(path: Path, plans: Plans) -> None:
    """Write the file, whole or not at all."""
    tables = [
        "\n".join(
            [f"\n[{exercise}.{key}]"]
            + [f"{name} = {json.dumps(getattr(plan, name), ensure_ascii=False)}" for name in _FIELDS]
        )
        for (exercise, key), plan in sorted(plans.items())
    ]
    write_text(path, _HEAD + "".join(f"{table}\n" for table in tables))


def _plan(table: Mapping[str, object]) -> Registered:
    if set(table) != set(_FIELDS) or not all(type(table[name]) is kind for name, kind in _FIELDS.items()):
        raise ValueError(f"a plan has {', '.join(_FIELDS)}")
    plan = Registered(**table)  # pyright: ignore[reportArgumentType]  # looked at above
    if datetime.fromisoformat(plan.when).tzinfo is None:
        raise ValueError("`when` needs its time zone")
    return plan
