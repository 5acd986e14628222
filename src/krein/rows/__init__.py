"""Rows to learn from, wherever they are: in a matrix, in chunks or on a cluster."""
