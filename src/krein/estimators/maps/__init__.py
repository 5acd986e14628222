"""Feature maps with a signature, as scikit-learn transformers."""
