"""What can be read from the text of an answer, and changed in it. Only its edits are ever run."""
