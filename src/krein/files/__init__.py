"""Models and tables on disk."""
