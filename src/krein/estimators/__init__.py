"""The scikit-learn layer: feature maps with a signature and the models that learn from them."""
