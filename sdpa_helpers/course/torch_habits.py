"""What is said of PyTorch's habits where NumPy means another thing, in the exercises of several lessons."""

TRANSPOSE_OF_TORCH = (
    "Nothing is transposed where there are two axes, and more raise an error. In NumPy `x.transpose(-2, -1)` does "
    "that: it wants a new order of ALL axes; PyTorch's takes two to swap. Here `np.swapaxes(x, -2, -1)` swaps two."
)
