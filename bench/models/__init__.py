"""The networks that the benchmarks run, written once per framework.

`cases` says which there are, of what sizes and how many multiply-adds they need; `in_sorus` (which the
genuine MindSpore runs too), `in_torch`, `in_jax` and `in_onnx` run them.
bench/network_worker.py serves one of them.
"""
