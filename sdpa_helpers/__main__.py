"""`python -m sdpa_helpers` and `sdpa`: the command line, or what to install for it."""

import sys


def main() -> None:
    """Run the command line. Exits with 2 where its packages are not installed."""
    try:
        from sdpa_helpers.cli.app import main as run
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich"):
            raise
        sys.exit(_needs(error.name))
    run()


def _needs(package: str) -> int:
    print(
        f'{package} is not installed; the command line needs: pip install "sdpa-helpers[lab]"',
        file=sys.stderr,
    )
    return 2


if __name__ == "__main__":
    main()
