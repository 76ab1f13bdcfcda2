"""Quick imports, for commands that run a second or two in all. Workers that are forked have what is imported here."""

import contextlib
import gc
import sys
from collections.abc import Iterator
from types import ModuleType

_NOT_RUN = {
    "jupyter_client": (),
    "jupyter_client.manager": ("KernelManager",),
    "jupyter_client.kernelspec": ("KernelSpecManager",),
    "ipykernel": (),
    "ipykernel.kernelspec": (),
    "nbval.cover": ("setup_coverage", "teardown_coverage"),
    "jsonschema": ("Draft4Validator",),
    "jsonschema.exceptions": ("ErrorTree", "ValidationError"),
    "fastjsonschema": ("JsonSchemaException",),
    "pygments": (),
    "pygments.lexer": ("Lexer",),
    "pygments.lexers": (),
    "pygments.lexers.diff": ("DiffLexer",),
    "pygments.lexers.python": ("PythonLexer",),
    "pygments.formatters": (),
    "pygments.formatters.terminal": ("TerminalFormatter",),
}
"""What starts Jupyter's own kernels, measures coverage, holds notebooks against their schema and colours code, with the
names that nbval, nbformat and pytest take from there.

Grading does none of it. These modules take half of the time of importing nbval."""


def begin_to_warm_up(sandbox: str) -> None:
    """Begin to start what forks kernels, the best sandbox's or that of "off", while this process imports the rest.

    Where that does not work here, `sandbox_level` finds out and says why.
    """
    from sdpa_helpers.grading.kernel_package import kernel_package
    from sdpa_helpers.sandbox import levels, start

    best = start.OFF if sandbox == start.OFF else next(iter(levels.LEVELS), start.OFF)
    with contextlib.suppress(levels.CannotStart, OSError):
        start.prepare(best, kernel_package())


@contextlib.contextmanager
def quick_imports() -> Iterator[None]:
    """Import in here what grading needs.

    Looking for garbage among what stays for ever takes a fifth of an import's time.
    """
    gc.disable()
    try:
        yield
        from sdpa_helpers.grading.run import session

        session()  # forked workers then have it too
    finally:
        gc.freeze()
        gc.enable()


def import_nbval() -> None:
    """Import nbval with empty classes for what would never run here; as it is, should it want more than these."""
    if any(name in sys.modules for name in ("nbval", "nbformat", "_pytest", *_NOT_RUN)):
        return
    sys.modules |= {name: _hollow(name, classes) for name, classes in _NOT_RUN.items()}
    try:
        import nbval.plugin  # noqa: F401
    except (ImportError, AttributeError):
        for name in [
            name for name in sys.modules if name.split(".")[0] in ("nbval", "nbformat", "_pytest", "pytest")
        ]:
            del sys.modules[name]
    finally:
        for name in _NOT_RUN:
            sys.modules.pop(name, None)


def _hollow(name: str, classes: tuple[str, ...]) -> ModuleType:
    made = ModuleType(name)
    made.__path__ = []
    for each in classes:
        setattr(made, each, type(each, (), {}))
    return made
