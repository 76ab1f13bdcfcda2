"""What a command that cannot do its work says: one sentence, and exit status 2."""

import functools
from collections.abc import Callable, Iterable
from typing import Any

import typer

from sdpa_helpers.cli.printing import complain_of
from sdpa_helpers.desk.where import DeskProblem
from sdpa_helpers.grading.refusal import Refusal

STUDENT_EDITION = "this is the student edition: it checks your own notebooks, with `sdpa check`"


def refuses(command: Callable[..., Any]) -> Callable[..., Any]:
    """Print the errors that are expected as a sentence, and exit with 2."""

    @functools.wraps(command)
    def run(*arguments: Any, **options: Any) -> Any:
        try:
            return command(*arguments, **options)
        except (Refusal, DeskProblem) as error:
            complain_of(str(error))
        except (FileNotFoundError, FileExistsError, IsADirectoryError, NotADirectoryError) as error:
            complain_of(_what_is_with(error))
        except ModuleNotFoundError as error:
            complain_of(_what_is_missing(error))
        raise typer.Exit(2)

    return run


def _what_is_with(error: OSError) -> str:
    if error.errno is None:  # a sentence of ours
        return str(error)
    return f"{error.filename2 or error.filename}: {(error.strerror or '').lower()}"


def _what_is_missing(error: ModuleNotFoundError) -> str:
    if (error.name or "").startswith("sdpa_helpers.classroom"):
        return STUDENT_EDITION
    if error.name is None or error.name.startswith("sdpa_helpers"):
        raise error  # a mistake of ours
    if error.name.startswith(("jupyter", "ipykernel")):
        return f'{error.name} is not installed; JupyterLab comes with: pip install -e ".[lab]"'
    return f'{error.name} is not installed; grading needs: pip install -e ".[grade]"'


def refuse_unknown(option: str, value: str, known: Iterable[str]) -> None:
    """Refuse a value that is none of the known ones."""
    if value not in known:
        raise Refusal(f"{option} {value} is unknown; expected one of: {', '.join(known)}")
