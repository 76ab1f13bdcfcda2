"""FlashAttention-2 in Triton: `kernels` is what runs on the GPU, `launch` starts it."""
