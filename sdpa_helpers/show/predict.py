"""Predict, then run: put the reader's answer next to the measured one."""

from types import EllipsisType


def compare(answer: float | str | EllipsisType | None, measured: float | str, *, digits: int = 2) -> None:
    """Print an answer beside the measured one.

    As long as the answer is `...`, nothing is given away: who runs or reads the cell is asked to answer first.
    `None` shows the measurement without an answer. Numbers agree when they do so to `digits` decimal places,
    or within 2 %.
    """
    if answer is ...:
        print("No answer yet: put yours in place of the three dots, and run the cell again.")
    elif answer is None:
        print(f"Measured: {_write(measured, digits)}.")
    else:
        agree = _agree(answer, measured, digits)
        told = "They agree." if agree else "They differ: what did you assume?"
        print(f"Your answer: {_write(answer, digits)}. Measured: {_write(measured, digits)}. {told}")


def _agree(answer: float | str, measured: float | str, digits: int) -> bool:
    if isinstance(answer, str) or isinstance(measured, str):
        return "".join(str(answer).lower().split()) == "".join(str(measured).lower().split())
    return abs(answer - measured) <= max(0.5 * 10**-digits, 0.02 * abs(measured))


def _write(value: float | str, digits: int) -> str:
    if isinstance(value, str):
        return value
    text = f"{value:.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
