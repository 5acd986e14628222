"""Shared by all subpackages: checks of parameters, rows, threads, directions."""
