"""`sdpa bench`: the attention backends against torch's fused call, on the CPU and on a GPU."""
