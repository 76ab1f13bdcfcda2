"""How things look: figures, SVG, panels, predictions. What a lesson draws is in its own folder."""
