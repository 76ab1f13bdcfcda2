"""The editions of the course that are made from its notebooks: the site, the browser edition, slides, print, archive.

What is here only builds; nothing in `sdpa_helpers` imports it, and no edition holds it.
"""
