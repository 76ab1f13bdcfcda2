"""The names that JupyterLite's kernel sets and calls."""

NOTHING = (
    "Nothing can be installed in the browser edition: it reaches no other computer. "
    "NumPy, matplotlib and SymPy are here. For PyTorch, install the course: its README says how."
)
_PIPLITE_DISABLE_PYPI = True
_PIPLITE_URLS: list[str] = []


async def install(requirements, **options):
    """Say why not."""
    del requirements, options
    raise RuntimeError(NOTHING)
