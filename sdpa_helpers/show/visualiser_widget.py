"""The visualiser as an anywidget: the module `visualiser.js`, with its settings shared with Python."""

import anywidget
import traitlets

from sdpa_helpers.show.visualiser import MODULE


class WalkWidget(anywidget.AnyWidget):
    """Made by `walk_through(...).widget()`. Its traits follow what the reader does, and the other way round."""

    _esm = MODULE
    given = traitlets.Dict().tag(sync=True)
    query = traitlets.Int(0).tag(sync=True)
    step = traitlets.Int(1).tag(sync=True)
    dk = traitlets.Int(4).tag(sync=True)
    temperature = traitlets.Float(1.0).tag(sync=True)
    scale = traitlets.Unicode("1/√d").tag(sync=True)
    mask = traitlets.Unicode("none").tag(sync=True)
    size = traitlets.Int(2).tag(sync=True)
