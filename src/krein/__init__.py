"""Learning with similarities that need not be positive definite."""

__version__ = "0.1.0"
