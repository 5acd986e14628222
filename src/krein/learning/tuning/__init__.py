"""Choosing from the data: where rows are placed, which kernel sees them, at what scale, and with what λ."""
