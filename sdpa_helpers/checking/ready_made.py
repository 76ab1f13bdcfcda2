"""What exercises forbid: groups of ready-made functions that would be the answer, by their full names.

An exercise lists the groups that its subject asks for; its prompt says them in words, and so does a verdict.
"""

from dataclasses import dataclass

from sdpa_helpers.checking.operations import (
    OF_TORCH,
    TORCH_ATTENTION,
    TORCH_COSINE,
    TORCH_ENTROPY,
    TORCH_SOFTMAX,
)


@dataclass(frozen=True)
class Group:
    """Ready-made things that an answer must not use."""

    says: str
    """What they are, as the prompt says it after "Not allowed: "."""
    names: tuple[str, ...]
    """Dotted names; what lies below one of them is forbidden too."""
    methods: tuple[str, ...] = ()
    """Names of methods, forbidden on everything that is not the learner's own."""
    operations: tuple[str, ...] = ()
    """What is noted while an answer runs, however it was reached: names of `operations.KNOWN`."""


READY_SOFTMAX = Group(
    "a ready-made softmax (PyTorch's, SciPy's, the course's)",
    names=(
        "torch.softmax",
        "torch.log_softmax",
        "torch.logsumexp",
        "torch.special.softmax",
        "torch.special.log_softmax",
        "torch.special.logsumexp",
        "torch.nn.functional.softmax",
        "torch.nn.functional.log_softmax",
        "torch.nn.functional.gumbel_softmax",
        "torch.nn.functional.softmin",
        "torch.nn.functional.cross_entropy",
        "torch.nn.Softmax",
        "torch.nn.Softmax2d",
        "torch.nn.Softmin",
        "torch.nn.LogSoftmax",
        "torch.nn.AdaptiveLogSoftmaxWithLoss",
        "torch.nn.CrossEntropyLoss",
        "torch.nn.modules.activation",
        "torch.sparse.softmax",
        "torch.sparse.log_softmax",
        "torch.distributions",
        "torch.Tensor.softmax",
        "torch.Tensor.log_softmax",
        "torch.Tensor.logsumexp",
        "torch.ops",
        "torch._softmax",
        "torch._log_softmax",
        "torch._C",
        "scipy.special.softmax",
        "scipy.special.log_softmax",
        "scipy.special.logsumexp",
        "scipy.special._logsumexp",
        "scipy.misc.logsumexp",
        "sklearn.utils.extmath.softmax",
        "jax.nn",
        "jax.scipy.special.logsumexp",
        "tensorflow.nn",
        "tensorflow.math.softmax",
        "keras.activations",
        "keras.ops.softmax",
        "onnx",
        "onnxruntime",
        "sdpa_helpers.softmax",
    ),
    methods=("softmax", "log_softmax", "logsumexp"),
    operations=(
        *TORCH_SOFTMAX,
        *TORCH_ATTENTION,  # there is a softmax in each
        "scipy.special.softmax",
        "scipy.special.log_softmax",
        "scipy.special.logsumexp",
        "sklearn.utils.extmath.softmax",
        "onnx.reference",
    ),
)

READY_ATTENTION = Group(
    "a ready-made attention",
    names=(
        "torch.nn.functional.scaled_dot_product_attention",
        "torch.nn.functional.multi_head_attention_forward",
        "torch.nn.MultiheadAttention",
        "torch.nn.Transformer",
        "torch.nn.TransformerEncoderLayer",
        "torch.nn.TransformerDecoderLayer",
        "torch.nn.attention",
        "torch.ops",
        "torch._C",
        "jax.nn.dot_product_attention",
        "keras.layers",
        "xformers",
        "flash_attn",
        "onnx",
        "onnxruntime",
        "sdpa_helpers.scaled_dot_product_attention",
        "sdpa_helpers.attention",
    ),
    operations=(*TORCH_ATTENTION, "onnx.reference"),
)

READY_COSINE = Group(
    "a ready-made cosine similarity",
    names=(
        "torch.cosine_similarity",
        "torch.nn.functional.cosine_similarity",
        "torch.nn.CosineSimilarity",
        "torch.nn.functional.cosine_embedding_loss",
        "torch.nn.CosineEmbeddingLoss",
        "scipy.spatial.distance.cosine",
        "scipy.spatial.distance.correlation",
        "scipy.spatial.distance.cdist",
        "scipy.spatial.distance.pdist",
        "scipy.spatial.distance._METRICS",
        "scipy.spatial.distance._distance_wrap",
        "scipy.spatial.distance._distance_pybind",
        "scipy.spatial._distance_wrap",
        "scipy.spatial._distance_pybind",
        "scipy.stats.pearsonr",
        "scipy.cluster",
        "sklearn.metrics.pairwise",
    ),
    operations=(
        *TORCH_COSINE,
        "scipy.spatial.distance.cosine",
        "scipy.spatial.distance.correlation",
        "scipy.spatial.distance.cdist",
        "scipy.spatial.distance.pdist",
        "scipy.stats.pearsonr",
        "sklearn.metrics.pairwise.cosine_similarity",
    ),
)

READY_ENTROPY = Group(
    "a ready-made entropy",
    names=(
        "scipy.stats.entropy",
        "scipy.special.entr",
        "scipy.special.rel_entr",
        "scipy.special.kl_div",
        "scipy.special.cython_special",
        "scipy.special._ufuncs",
        "scipy.special._support_alternative_backends",
        "scipy.stats.differential_entropy",
        "scipy.stats.power_divergence",
        "scipy.stats.multinomial",
        "scipy.stats.rv_discrete",
        "sklearn.metrics",
        "sympy.stats",
        "torch.special.entr",
        "torch.distributions",
        "torch.kl_div",
        "torch.nn.functional.kl_div",
        "torch.nn.functional.cross_entropy",
        "torch.nn.functional.binary_cross_entropy",
        "torch.nn.functional.binary_cross_entropy_with_logits",
        "torch.nn.KLDivLoss",
        "torch.nn.CrossEntropyLoss",
        "torch.nn.BCELoss",
        "torch.nn.BCEWithLogitsLoss",
    ),
    operations=(
        *TORCH_ENTROPY,
        "scipy.stats.entropy",
        "scipy.special.entr",
        "scipy.special.rel_entr",
        "scipy.special.kl_div",
        "scipy.stats.power_divergence",
    ),
)

READY_MASK = Group(
    "a ready-made mask (the course's)", names=("sdpa_helpers.causal_mask", "sdpa_helpers.padding_mask")
)

AUTOGRAD = Group(
    "PyTorch, or another library that takes the derivatives for you",
    names=(
        "torch",
        "jax",
        "autograd",
        "tensorflow",
        "theano",
        "pytensor",
        "tinygrad",
        "mxnet",
        "casadi",
        "numdifftools",
        "onnx",
        "sympy",
        "mpmath",
        "scipy.differentiate",
        "scipy.misc.derivative",
        "scipy.optimize",
    ),
    operations=(*OF_TORCH, "sympy.diff", "mpmath.diff", "scipy.differentiate", "scipy.optimize"),
)

COURSE_SOFTMAX = "sdpa_helpers.softmax"
"""What an exercise may allow of the course: where softmax is a step on the way, not the subject."""
