"""Every public estimator, kernel and function on data and parameters that nobody would choose.

One rule decides: a finite result of the right shape and dtype, or a documented exception in words that name what is wrong.
``python -m fuzz --cases 10000`` from ``tests/`` (``make fuzz``) runs a campaign; a few hundred cases run with the tests.
"""
