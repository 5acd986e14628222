"""Similarities that are no formula of two vectors: callables and precomputed blocks, and their landmarks."""
