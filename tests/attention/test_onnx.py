"""The node tests of ONNX's operator `Attention`, which others wrote: https://onnx.ai/onnx/operators/onnx__Attention.html

Of its attributes those that we have too: is_causal, scale, q_num_heads and kv_num_heads (3-D input), grouped heads,
masks, a cache of past keys and values, and the weights (qk_matmul_output_mode 3). Not ours: softcap, windows, and
nonpad_kv_seqlen.
"""

from functools import cache

import numpy as np

from sdpa_helpers import scaled_dot_product_attention

from .cases import to_float64

NOT_OURS = {"softcap", "left_window_size", "right_window_size", "nonpad_kv_seqlen"}
WEIGHTS = 3  # of qk_matmul_output_mode


@cache
def node_tests() -> list[tuple]:
    """(name, attributes, inputs by name, expected outputs by name) of each that asks only for what we have."""
    # Importing the operator's own file makes its cases; collect_testcases() would make all operators' (half a minute).
    from onnx.backend.test.case import node as made
    from onnx.backend.test.case.node import attention  # noqa: F401

    found = []
    for case in made._NodeTestCases:
        node = case.model.graph.node[0]
        if node.op_type != "Attention":  # the same, written out in other operators
            continue
        attributes = {a.name: a.f if a.name == "scale" else a.i for a in node.attribute}
        arrays, outputs = case.data_sets[0]
        inputs = dict(zip([name for name in node.input if name], arrays, strict=True))
        expected = dict(zip([name for name in node.output if name], outputs, strict=True))
        if not NOT_OURS & {*attributes, *inputs}:
            found.append((case.name, attributes, inputs, expected))
    return found


def attend(attributes, inputs, backend):
    """(Y, weights) of one node test, by our function."""
    query, key, value = (inputs[name] for name in "QKV")
    if query.ndim == 3:  # (batch, length, heads · features)
        heads = [attributes["q_num_heads"], *[attributes["kv_num_heads"]] * 2]
        query, key, value = (
            x.reshape(*x.shape[:2], h, -1).swapaxes(1, 2)
            for x, h in zip((query, key, value), heads, strict=True)
        )
    mask, is_causal = inputs.get("attn_mask"), bool(attributes.get("is_causal", 0))
    if "past_key" in inputs:
        past = inputs["past_key"].shape[-2]
        key = np.concatenate([inputs["past_key"], key], axis=-2)
        value = np.concatenate([inputs["past_value"], value], axis=-2)
        if (
            is_causal
        ):  # the first query comes after the whole past, where ours would align it with the first key
            later = np.arange(key.shape[-2]) > past + np.arange(query.shape[-2])[:, None]
            hidden = np.where(later, -np.inf, 0).astype(query.dtype)
            mask, is_causal = hidden if mask is None else mask + hidden, False
    options = {
        "is_causal": is_causal,
        "scale": attributes.get("scale"),
        "enable_gqa": True,
        "backend": backend,
    }
    arrays = [query, key, value] if mask is None else [query, key, value, mask]
    output = scaled_dot_product_attention(*arrays, **options)
    weights = scaled_dot_product_attention(*arrays, **options, return_weights=True)[1]
    output = to_float64(output)
    if inputs["Q"].ndim == 3:
        output = output.swapaxes(1, 2).reshape(*inputs["Q"].shape[:2], -1)
    return output, to_float64(weights)


def test_onnx(backend, needs):
    for module in ("onnx", "torch"):
        needs(module)
    tests = node_tests()
    assert len(tests) > 50
    wrong = []
    for name, attributes, inputs, expected in tests:
        output, weights = attend(attributes, inputs, backend)
        wide = inputs["Q"].dtype.itemsize > 2
        tolerance = 1e-5 if wide else 1e-2 if inputs["Q"].dtype.name == "float16" else 3e-2
        compared = [(output, expected["Y"])]
        if attributes.get("qk_matmul_output_mode") == WEIGHTS:
            compared.append((weights, expected["qk_matmul_output"]))
        if not all(np.allclose(a, b.astype(np.float64), rtol=tolerance, atol=tolerance) for a, b in compared):
            wrong.append(name)
    assert wrong == []
