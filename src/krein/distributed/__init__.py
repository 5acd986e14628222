"""Rows on a cluster: the same sums over blocks, computed by its workers."""
