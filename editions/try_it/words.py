"""What a notebook says of its cells, said of a page, which has an editor."""

_NO_CELLS = {
    "The cell below holds": "The editor holds",
    "use the cell of": "use the editor of",
    "in a new cell:": "in a new cell of the notebook:",
    "in a cell of your own": "in a cell of the notebook",
}


def in_a_page(prompt: str) -> str:
    """An exercise's prompt as a page says it."""
    for in_a_notebook, here in _NO_CELLS.items():
        prompt = prompt.replace(in_a_notebook, here)
    return prompt
