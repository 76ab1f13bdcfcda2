"""The ready-made operations that are noticed while an answer runs, by name: what `watch_use` looks for.

A name of PyTorch's is that of the operator which does the work ("aten::_softmax"), whatever function led to it; others
are the names of functions. Some exercises forbid some of them, see `ready_made`. Runs next to untrusted code too.
"""

TORCH_SOFTMAX = (
    "aten::_softmax",
    "aten::_log_softmax",
    "aten::_safe_softmax",
    "aten::_masked_softmax",
    "aten::_sparse_softmax",
    "aten::_sparse_log_softmax",
    "aten::logsumexp",
    "aten::logcumsumexp",
    "aten::_logcumsumexp",
    "torch._refs.softmax",
    "torch._decomp.softmax",
)

TORCH_ATTENTION = (
    "aten::scaled_dot_product_attention",
    "aten::_scaled_dot_product_attention_math",
    "aten::_scaled_dot_product_flash_attention_for_cpu",
    "aten::_scaled_dot_product_flash_attention",
    "aten::_scaled_dot_product_efficient_attention",
    "aten::_scaled_dot_product_cudnn_attention",
    "aten::_scaled_dot_product_fused_attention_overrideable",
    "aten::_native_multi_head_attention",
    "aten::_transformer_encoder_layer_fwd",
    "torch.nn.functional.multi_head_attention_forward",
    "torch.nn.attention.flex_attention",
)

TORCH_COSINE = ("aten::cosine_similarity", "aten::cosine_embedding_loss")

TORCH_ENTROPY = (
    "aten::special_entr",
    "aten::kl_div",
    "aten::cross_entropy_loss",
    "aten::binary_cross_entropy",
    "aten::binary_cross_entropy_with_logits",
    "torch.distributions.entropy",
)
"""The entropy, and what gives it when it is asked about one distribution twice."""

TORCH_STEPS = (
    "aten::ones_like",
    "aten::zeros_like",
    "aten::empty_like",
    "aten::clone",
    "aten::mm",
    "aten::bmm",
    "aten::mv",
    "aten::dot",
    "aten::vdot",
    "aten::addmm",
    "aten::baddbmm",
    "aten::exp",
    "aten::exp_",
    "aten::exp2",
    "aten::expm1",
    "aten::log",
    "aten::sum",
    "aten::nansum",
    "aten::mean",
    "aten::cumsum",
    "aten::prod",
    "aten::pow",
    "aten::tanh",
    "aten::sigmoid",
    "aten::_softmax_backward_data",
)
"""What no derivative and no model of PyTorch's does without. `mul` and the like are not here: they would need care
with Python's numbers, and cost every product."""

OVERLOADS = {
    "aten::_softmax": ("", "out"),
    "aten::_log_softmax": ("", "out"),
    "aten::logsumexp": ("", "out"),
    "aten::_masked_softmax": ("", "out"),
    "aten::_sparse_softmax": ("", "int", "out"),
    "aten::_sparse_log_softmax": ("", "int", "out"),
    "aten::logcumsumexp": ("", "out"),
    "aten::_logcumsumexp": ("", "out"),
    "aten::_native_multi_head_attention": ("", "out"),
    "aten::_transformer_encoder_layer_fwd": ("", "out"),
    "aten::special_entr": ("", "out"),
    "aten::binary_cross_entropy": ("", "out"),
    "aten::binary_cross_entropy_with_logits": ("", "out"),
    "aten::mm": ("", "out"),
    "aten::bmm": ("", "out"),
    "aten::addmm": ("", "out"),
    "aten::exp": ("", "out"),
    "aten::sum": ("", "dim_IntList", "IntList_out"),
    "aten::mean": ("", "dim", "out"),
    "aten::pow": ("Tensor_Scalar",),
}
"""Variants of an operator, where there are others than the plain one."""

FUNCTIONS = {
    "sdpa_helpers": {"softmax": "sdpa_helpers.softmax"},
    "sdpa_helpers.attention.softmax": {"softmax": "sdpa_helpers.softmax"},
    "sdpa_helpers.attention.call": {
        "scaled_dot_product_attention": "sdpa_helpers.scaled_dot_product_attention"
    },
    "sdpa_helpers.attention.masks": {
        "causal_mask": "sdpa_helpers.causal_mask",
        "padding_mask": "sdpa_helpers.padding_mask",
    },
    "scipy.special": {
        "softmax": "scipy.special.softmax",
        "log_softmax": "scipy.special.log_softmax",
        "logsumexp": "scipy.special.logsumexp",
        "entr": "scipy.special.entr",
        "rel_entr": "scipy.special.rel_entr",
        "kl_div": "scipy.special.kl_div",
    },
    "scipy.special._logsumexp": {
        "softmax": "scipy.special.softmax",
        "log_softmax": "scipy.special.log_softmax",
        "logsumexp": "scipy.special.logsumexp",
    },
    "scipy.special.cython_special": {
        "entr": "scipy.special.entr",
        "rel_entr": "scipy.special.rel_entr",
        "kl_div": "scipy.special.kl_div",
    },
    "scipy.stats": {
        "entropy": "scipy.stats.entropy",
        "power_divergence": "scipy.stats.power_divergence",
        "pearsonr": "scipy.stats.pearsonr",
    },
    "scipy.spatial._distance_wrap": {
        "cdist_cosine_double_wrap": "scipy.spatial.distance.cosine",
        "pdist_cosine_double_wrap": "scipy.spatial.distance.cosine",
    },
    "scipy.spatial.distance": {
        "cosine": "scipy.spatial.distance.cosine",
        "correlation": "scipy.spatial.distance.correlation",
        "cdist": "scipy.spatial.distance.cdist",
        "pdist": "scipy.spatial.distance.pdist",
    },
    "scipy.differentiate": {
        "derivative": "scipy.differentiate",
        "jacobian": "scipy.differentiate",
        "hessian": "scipy.differentiate",
    },
    "scipy.optimize._numdiff": {"approx_derivative": "scipy.optimize"},
    "mpmath.calculus.differentiation": {"diff": "mpmath.diff", "diffs": "mpmath.diff"},
    "sympy.core.function": {"Derivative.__new__": "sympy.diff"},
    "onnx.reference.ops.op_softmax": {"Softmax._run": "onnx.reference"},
    "onnx.reference.ops.op_log_softmax": {"LogSoftmax._run": "onnx.reference"},
    "onnx.reference.ops.op_attention": {"_compute_attention": "onnx.reference"},
    "sklearn.utils.extmath": {"softmax": "sklearn.utils.extmath.softmax"},
    "sklearn.metrics.pairwise": {
        "cosine_similarity": "sklearn.metrics.pairwise.cosine_similarity",
        "cosine_distances": "sklearn.metrics.pairwise.cosine_similarity",
    },
    "torch._refs": {
        "softmax": "torch._refs.softmax",
        "log_softmax": "torch._refs.softmax",
        "logsumexp": "torch._refs.softmax",
    },
    "torch._refs.special": {
        "softmax": "torch._refs.softmax",
        "log_softmax": "torch._refs.softmax",
    },
    "torch._refs.nn.functional": {
        "softmax": "torch._refs.softmax",
        "log_softmax": "torch._refs.softmax",
        "softmin": "torch._refs.softmax",
    },
    "torch._decomp.decompositions": {
        "_softmax": "torch._decomp.softmax",
        "_log_softmax": "torch._decomp.softmax",
        "_safe_softmax": "torch._decomp.softmax",
        "scaled_dot_product_flash_attention_for_cpu": "torch.nn.functional.multi_head_attention_forward",
    },
    "torch.nn.functional": {
        "multi_head_attention_forward": "torch.nn.functional.multi_head_attention_forward"
    },
    "torch.nn.attention.flex_attention": {"flex_attention": "torch.nn.attention.flex_attention"},
    "torch.distributions.categorical": {"Categorical.entropy": "torch.distributions.entropy"},
    "torch.distributions.bernoulli": {"Bernoulli.entropy": "torch.distributions.entropy"},
    "torch.distributions.kl": {"_kl_categorical_categorical": "torch.distributions.entropy"},
}
"""Module → function in it, or method → the name under which its use is noted."""

OF_TORCH = (*TORCH_SOFTMAX, *TORCH_ATTENTION, *TORCH_COSINE, *TORCH_ENTROPY, *TORCH_STEPS)

UNDONE = "watch-undone"
"""Noted when what is built in here was taken out again: no accident."""

KNOWN = frozenset({*OF_TORCH, *(name for there in FUNCTIONS.values() for name in there.values()), UNDONE})
"""All names that can be noted."""


def in_words(name: str) -> str:
    """What was seen, for a verdict: "a softmax of PyTorch's (seen while it ran)"."""
    if name == UNDONE:
        return "taking out what notes the use of ready-made functions"
    return f"{_OF_TORCH_IN_WORDS.get(name, name)} (seen while it ran)"


_OF_TORCH_IN_WORDS = {
    **dict.fromkeys(TORCH_STEPS, "PyTorch"),
    **dict.fromkeys(TORCH_SOFTMAX, "a softmax of PyTorch's"),
    **dict.fromkeys(TORCH_ATTENTION, "an attention of PyTorch's"),
    **dict.fromkeys(TORCH_COSINE, "a cosine similarity of PyTorch's"),
    **dict.fromkeys(TORCH_ENTROPY, "an entropy of PyTorch's"),
}
