"""Lessons and the cheat sheet on paper: PDFs through Chromium's print, without LaTeX."""
