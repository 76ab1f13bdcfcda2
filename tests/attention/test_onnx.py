"""The node tests of ONNX's operator `Attention`, which others wrote: https://onnx.ai/onnx/operators/onnx__Attention.html

All are reached. What the operator calls otherwise, or has and we have not:

    ONNX                          ours
    is_causal with past_key       the past in front of key and value; mask_mod: j ≤ i + past
    left_, right_window_size      mask_mod: i − j ≤ left, j − i ≤ right
    nonpad_kv_seqlen              mask_mod: padding(lengths); is_causal then ends at the last key of a sequence
    softcap                       score_mod: softcap(cap)
    q_num_heads, kv_num_heads     (batch, length, heads · features) as (batch, heads, length, features)
    a mask of fewer keys          False, or −∞, for the others
    qk_matmul_output              mode 3: the weights; mode 2: the scores, log weight + LSE; modes 1 and 0: those of the
                                  call without masks, and without softcap
    present_key, present_value    the caller has them: past and new, one behind the other
"""

from collections import Counter
from functools import cache

import numpy as np

from sdpa_helpers import scaled_dot_product_attention
from sdpa_helpers.attention.variants.mods import and_masks, of_sequence, padding, softcap

from .cases import to_float64

RAW, CAPPED, MASKED, WEIGHTS = range(4)  # of qk_matmul_output_mode


@cache
def node_tests() -> list[tuple]:
    """(name, attributes, inputs by name, expected outputs by name) of each."""
    # Importing the operator's own file makes its cases; collect_testcases() would make all operators' (half a minute).
    from onnx.backend.test.case import node as made
    from onnx.backend.test.case.node import attention  # noqa: F401

    found = []
    for case in made._NodeTestCases:
        node = case.model.graph.node[0]
        if node.op_type != "Attention":  # the same, written out in other operators
            continue
        attributes = {a.name: a.f if a.name in ("scale", "softcap") else a.i for a in node.attribute}
        arrays, outputs = case.data_sets[0]
        inputs = dict(zip([name for name in node.input if name], arrays, strict=True))
        expected = dict(zip([name for name in node.output if name], outputs, strict=True))
        found.append((case.name, attributes, inputs, expected))
    return found


def in_four_dimensions(attributes, inputs):
    """Query, key and value as (batch, heads, length, features), the past in front."""
    query, key, value = (inputs[name] for name in "QKV")
    if query.ndim == 3:  # (batch, length, heads · features)
        heads = [attributes["q_num_heads"], *[attributes["kv_num_heads"]] * 2]
        query, key, value = (
            x.reshape(*x.shape[:2], h, -1).swapaxes(1, 2)
            for x, h in zip((query, key, value), heads, strict=True)
        )
    if "past_key" in inputs:
        key = np.concatenate([inputs["past_key"], key], axis=-2)
        value = np.concatenate([inputs["past_value"], value], axis=-2)
    return query, key, value


def full_mask(mask, n_k):
    """With a column for every key, and two dimensions at least; the operator hides the keys that it leaves out."""
    if mask is None:
        return None
    left_out = [(0, 0)] * (mask.ndim - 1) + [(0, n_k - mask.shape[-1])]
    hidden = False if mask.dtype == bool else -np.inf
    return np.atleast_2d(np.pad(mask, left_out, constant_values=hidden))


def ends_elsewhere(inputs):
    """Whether a causal mask does not start at the top left."""
    return "past_key" in inputs or "nonpad_kv_seqlen" in inputs


def mods(attributes, inputs, n_q):
    """mask_mod and score_mod, where they are needed."""
    lengths = inputs.get("nonpad_kv_seqlen")
    left, right = (attributes.get(f"{side}_window_size", -1) for side in ("left", "right"))
    past = inputs["past_key"].shape[-2] if "past_key" in inputs else 0

    def place(b, i):  # of the query among the keys
        return i + (past if lengths is None else of_sequence(lengths, b, i) - n_q)

    is_causal = attributes.get("is_causal") and ends_elsewhere(inputs)
    rules = [
        (lengths is not None, padding(lengths)),
        (is_causal, lambda b, h, i, j: j <= place(b, i)),
        (left >= 0, lambda b, h, i, j: place(b, i) - j <= left),
        (right >= 0, lambda b, h, i, j: j - place(b, i) <= right),
    ]
    wanted = [rule for holds, rule in rules if holds]
    return {
        "mask_mod": and_masks(*wanted) if wanted else None,
        "score_mod": softcap(attributes["softcap"]) if "softcap" in attributes else None,
    }


def attend(attributes, inputs, expected, backend):
    """What is expected, by name, as ours has it."""
    arrays = in_four_dimensions(attributes, inputs)
    mask = full_mask(inputs.get("attn_mask"), arrays[1].shape[-2])
    changes = mods(attributes, inputs, arrays[0].shape[-2])
    is_causal = bool(attributes.get("is_causal", 0)) and not ends_elsewhere(inputs)

    def call(*, masked=True, capped=True, **more):
        kept = {"attn_mask": mask, "is_causal": is_causal, "mask_mod": changes["mask_mod"]} if masked else {}
        kept |= {"score_mod": changes["score_mod"]} if capped else {}
        scale = attributes.get("scale")
        return scaled_dot_product_attention(
            *arrays, **kept, scale=scale, enable_gqa=True, backend=backend, **more
        )

    def scores(**which):
        _, weights, lse = call(return_weights=True, return_lse=True, **which)
        with np.errstate(divide="ignore"):
            return np.log(to_float64(weights)) + to_float64(lse)[..., None]

    output = to_float64(call())
    if inputs["Q"].ndim == 3:
        output = output.swapaxes(1, 2).reshape(*inputs["Q"].shape[:2], -1)
    if "qk_matmul_output" not in expected:
        return {"Y": output}
    mode = attributes.get("qk_matmul_output_mode", RAW)
    if mode == WEIGHTS:
        return {"Y": output, "qk_matmul_output": to_float64(call(return_weights=True)[1])}
    return {"Y": output, "qk_matmul_output": scores(masked=mode == MASKED, capped=mode != RAW)}


def test_onnx(backend, needs):
    for module in ("onnx", "torch"):
        needs(module)
    wrong = []
    for name, attributes, inputs, expected in node_tests():
        wide = inputs["Q"].dtype.itemsize > 2
        tolerance = 1e-5 if wide else 1e-2 if inputs["Q"].dtype.name == "float16" else 3e-2
        for output, array in attend(attributes, inputs, expected, backend).items():
            theirs = expected[output].astype(np.float64)
            if not np.allclose(array, theirs, rtol=tolerance, atol=tolerance):
                wrong.append((name, output))
    assert wrong == []


def test_how_many_there_are(needs):
    """None is left out; by what they need beyond is_causal, scale, masks, grouped heads and weights."""
    needs("onnx")
    import onnx

    counts = Counter()
    for _, attributes, inputs, expected in node_tests():
        asked = {*attributes, *inputs}
        counts["all"] += 1
        counts["softcap"] += "softcap" in asked
        counts["a window"] += bool(asked & {"left_window_size", "right_window_size"})
        counts["lengths"] += "nonpad_kv_seqlen" in asked
        counts["a past"] += "past_key" in asked
        counts["3-D"] += inputs["Q"].ndim == 3
        counts["scores"] += (
            "qk_matmul_output" in expected and attributes.get("qk_matmul_output_mode", RAW) != WEIGHTS
        )
    if onnx.__version__.startswith("1.23."):
        expected_counts = {
            "all": 93,
            "softcap": 11,
            "a window": 11,
            "lengths": 13,
            "a past": 21,
            "3-D": 25,
            "scores": 12,
        }
        assert counts == expected_counts
    assert counts["all"] > 50
