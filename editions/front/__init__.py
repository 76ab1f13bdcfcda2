"""The site's first page: a trained head asks, a line answers it, and a mistake in that line gets its name."""
