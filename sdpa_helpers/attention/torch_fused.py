"""torch's own fused attention: one call, FlashAttention inside.

    Attention(Q, K, V) = softmax(Q Kᵀ / √d_k) V

torch.nn.functional.scaled_dot_product_attention has several kernels behind it, and one of them, "math", is the
plain formula: slow, and with all the scores in memory. Which one a call gets depends on its arguments, and
nothing tells the caller. Here torch is asked which it would take; where that is the slow one, the fused ones are
asked for by name (torch.nn.attention.sdpa_kernel), so that torch raises, and says why. `cannot` knows beforehand, so
that such a call goes to another backend. To ask by name each time would take longer than a small call, and what it
sets holds for all threads.

Half precision is what torch's kernels make of it: the weights are rounded to it before they meet the values.
There is no second derivative.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

from sdpa_helpers.attention.layout import (
    BackendResult,
    Head,
    Rule,
    Wants,
    four_dimensional,
    full_rows,
    leading_shape,
    with_dense_rows,
)
from sdpa_helpers.attention.torch_numbers import (
    all_finite,
    has_far_row,
    hidden_share,
    is_traced,
    largest_score,
)

if TYPE_CHECKING:
    from sdpa_helpers.attention.call_facts import Call

# What torch.nn.functional.scaled_dot_product_attention is before anybody puts another function, ours, in its place.
OF_TORCH: Any = torch._C._nn.scaled_dot_product_attention  # pyright: ignore[reportAttributeAccessIssue]
WITH_LSE: Any = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
WHICH: Any = torch._fused_sdp_choice  # pyright: ignore[reportPrivateImportUsage]
FUSED = [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.CUDNN_ATTENTION]
HIDDEN = 0.45  # share of the tiles that a mask hides from which torch-tiled is faster
DEAR_LOOK = 16  # with fewer scores for each number of a mask, to look at the mask takes too much of the time
VECTOR = 16  # numbers at most that a CPU's instruction takes; the kernel's maximum of fewer loses NaN
# Largest |score|; its last digit is an eighth. The kernel's gradients are of exp(score − LSE), with the score computed
# once more, and on processors with AVX-512 rounded in another way than for the LSE: a weight of 1 becomes e^±⅛.
MOST_SCORE = {"float64": 2.0**49}
MOST_SCORE_ELSE = 2.0**20
FUSED_NUMBERS = {int(kernel.value) for kernel in FUSED}  # pyright: ignore[reportAttributeAccessIssue]


def cannot(call: Call) -> str:
    """Why torch's fused kernels do not serve this call, or not rightly; "" when they do."""
    if call.return_weights:
        return "the fused kernel never has the weights"
    if call.has_mask_mod or call.has_score_mod:
        return "it knows masks as tensors only, no mask_mod and no score_mod"
    if call.return_lse and (reason := _cannot_return_lse(call)):
        return reason
    if call.dropout_p > 0:
        return "with dropout torch falls back to its slow math path"
    if call.learned_mask:
        return "with a mask that requires a gradient torch falls back to its slow math path"
    if call.d_k != call.d_v:
        return f"with d_v ≠ d_k ({call.d_v} and {call.d_k}) torch falls back to its slow math path"
    if 0 in (*call.lead, call.n_q, call.n_k, call.d_k):
        return "torch's fused kernel refuses empty arrays"
    if call.is_causal and call.scale <= 0:
        return f"torch's kernel hides the future before it scales: with scale = {call.scale:g} it gives NaN"
    if call.device != "cpu" and (call.mask or call.dtype == "float64" or call.d_k > 256):
        return "on a GPU only calls without a mask, in at most float32, with d ≤ 256 are known to be right"
    return _fault_of_the_cpu_kernel(call) if call.device == "cpu" else ""


def _cannot_return_lse(call: Call) -> str:
    if call.device != "cpu" or is_traced():
        return "of torch's kernels only that for CPUs is asked for its LSE, and not while torch traces it"
    if call.wants_gradient:
        return "torch has no gradient for its kernel's LSE"
    return "in a row that a mask hides throughout its LSE is 0, not −∞" if call.mask else ""


def wastes(call: Call) -> str:
    """Why tiles are faster, which leave out what a mask hides; "" where it is not known. The kernel computes all."""
    if call.mask != "bool" or call.device != "cpu" or is_traced():
        return ""
    if torch.get_num_threads() > 1:  # on a busy machine the threads of many small steps wait for one another
        return ""
    if call.attn_mask.numel() * DEAR_LOOK > call.scores:
        return ""
    hidden = hidden_share(call.attn_mask)
    if hidden < HIDDEN:
        return ""
    return f"it computes what a mask hides too, and leaving out tiles saves {hidden:.0%} here"


def _fault_of_the_cpu_kernel(call: Call) -> str:
    """Why torch 2.13's kernel for CPUs would compute this call wrongly, as far as its numbers tell."""
    traced = is_traced()
    if call.n_k < VECTOR and (traced or not all_finite(call.query, call.key)):
        return f"with fewer than {VECTOR} keys torch's kernel makes a row of NaN 0, and here may be one"
    if call.mask == "bool" and not traced and not all_finite(call.query, call.key):
        return (
            "torch's kernel adds −∞ where a mask says False, which hides no NaN and no ∞, and here may be one"
        )
    if call.mask == "float" and call.wants_gradient:
        # It keeps LSE = log Σ exp(score) as one number. Beside finfo.min or −1e9 the log n of n equal scores is
        # rounded away, and the gradients come out n times too large.
        if traced:
            return "the gradients are wrong where a finite mask hides a whole row, and a traced mask shows no numbers"
        if has_far_row(call.attn_mask, call.is_causal, call.n_q):
            return "its gradients are wrong where a finite mask hides a whole row, as this one does: −∞ would be right"
    if call.wants_gradient and not traced:
        reach = largest_score(call.query, call.key, call.scale)
        if reach > MOST_SCORE.get(call.dtype, MOST_SCORE_ELSE):
            return (
                f"its gradients may be wrong with scores as large as {reach:.0e}, which it rounds in two ways"
            )
    return ""


def attention(arrays: Head, rule: Rule, wants: Wants) -> BackendResult:
    """The attended values, in the dtype of the query."""
    query, key, value = arrays
    attn_mask, enable_gqa = rule.mask, wants.enable_gqa
    lead = leading_shape(*arrays, enable_gqa)
    n_q, n_k = query.shape[-2], key.shape[-2]
    grouped = enable_gqa and key.shape[-3] == value.shape[-3]  # which torch's kernel takes as they are
    if enable_gqa and not grouped:
        key, value = (x.repeat_interleave(query.shape[-3] // x.shape[-3], dim=-3) for x in (key, value))

    mask = None
    if attn_mask is not None:
        working = torch.promote_types(query.dtype, torch.float32)  # half would turn its lowest number into −∞
        if attn_mask.dtype == torch.bool:  # torch would do it too, but for every head
            hidden = torch.tensor(-torch.inf, dtype=working, device=query.device)
            attn_mask = torch.where(attn_mask, torch.zeros_like(hidden), hidden)
        mask = four_dimensional(full_rows(attn_mask.to(working), n_q, n_k), lead)
    lead_kv = (*lead[:-1], key.shape[-3]) if grouped else lead
    given = (
        with_dense_rows(four_dimensional(query, lead)),
        with_dense_rows(four_dimensional(key, lead_kv)),
        with_dense_rows(four_dimensional(value, lead_kv)),
    )
    if wants.return_lse:
        output, lse = WITH_LSE(*given, 0.0, rule.is_causal, scale=rule.scale)
        return BackendResult(output.reshape(*lead, n_q, value.shape[-1]), lse=lse.reshape(*lead, n_q))
    output = in_one_kernel(
        *given, attn_mask=mask, is_causal=rule.is_causal, scale=rule.scale, enable_gqa=grouped
    )
    return BackendResult(output.reshape(*lead, n_q, value.shape[-1]))


def in_one_kernel(*arrays: Any, **options: Any) -> torch.Tensor:
    """torch's own function of (batch, heads, rows, columns), but never its slow path."""
    if not is_traced() and WHICH(*arrays, **options) in FUSED_NUMBERS:
        return OF_TORCH(*arrays, **options)
    with sdpa_kernel(FUSED):
        return OF_TORCH(*arrays, **options)
