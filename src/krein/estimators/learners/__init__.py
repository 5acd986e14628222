"""Models that learn from features with a signature, as scikit-learn estimators."""
