"""Rows that live on a cluster: the same sums over blocks, elsewhere."""
