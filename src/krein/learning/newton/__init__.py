"""Newton's method for linear classifiers: squared hinge and logistic losses, in memory, in chunks or on a cluster."""
