"""An exercise as it is written: from a page, with its examples and rules in words."""
