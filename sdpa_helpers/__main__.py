"""`python -m sdpa_helpers` is `sdpa`."""

from sdpa_helpers.cli.app import main

main()
