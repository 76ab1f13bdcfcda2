"""A module that imports what it needs when it is called."""


def imports_late() -> float:
    from scipy.special import expit

    return float(expit(0.0))
