"""Stands in for JupyterLite's own installer: in this site everything is there already, and nothing is fetched."""

from .piplite import install

__all__ = ["install"]
