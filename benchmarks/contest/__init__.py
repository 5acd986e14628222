"""Learners side by side on real tables: the sets, the protocols, who takes part, and what comes out.

``benchmarks/bench_learning.py`` and ``benchmarks/bench_scale.py`` are the doors.
"""
