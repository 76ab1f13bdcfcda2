"""Sphinx's settings. `editions.site.build` calls it with the source folder that `source.py` laid."""

import gc
import importlib.metadata

from editions.look.pages import ICON

gc.disable()  # trees of documents stay until the end: who looks for garbage in them takes a fifth of the time
project = "Scaled dot-product attention"
author = "The maintainers of sdpa-helpers"
copyright = "texts and figures: CC BY 4.0, code: MIT"
release = importlib.metadata.version("sdpa-helpers")
language = "en"
extensions = ["myst_nb", "sphinx_design", "editions.site.folding", "editions.site.formulas"]
extensions += ["editions.site.shared_links", "editions.live.extension"]
html_theme = "sphinx_book_theme"
html_title = project
html_favicon = str(ICON)
html_context = {"default_mode": "auto"}
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = [("site.js", {"defer": "defer"})]
templates_path = ["templates", "../look/templates"]
html_copy_source = False
html_show_sourcelink = False
html_sidebars = {"**": ["contents.html"]}
html_theme_options = {
    "article_header_start": [],
    "article_header_end": [],
    "back_to_top_button": False,
    "secondary_sidebar_items": [],
    "show_toc_level": 2,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}

nb_execution_mode = "off"
nb_merge_streams = True
nb_code_prompt_show = "The code"
nb_code_prompt_hide = "The code"
# No scripts of other hosts: our panels bring theirs along.
nb_ipywidgets_js = {}
myst_enable_extensions = ["amsmath", "attrs_block", "attrs_inline", "colon_fence", "dollarmath"]
myst_heading_anchors = 4
html_math_renderer = "drawn"
suppress_warnings = ["misc.highlighting_failure"]


def setup(app):
    """No page of ours loads what Sphinx's own search would find, and looking at every word takes it two seconds."""
    app.connect("doctree-read", lambda app, tree: app.env.metadata[app.env.docname].update(nosearch=True))
