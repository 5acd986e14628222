"""Sections of ``benchmarks/run.py``: each module measures one thing and returns rows."""
