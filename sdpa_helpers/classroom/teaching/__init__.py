"""Does it teach? What grades and logs say of the exercises and of the sentences, and what they can't say.

Pure functions over what `material` and `reading` bring; `findings` decides what may be claimed.
"""
