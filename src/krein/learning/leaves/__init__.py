"""Learning locally and exactly: a balanced tree whose leaves are ridge problems of a few thousand rows each."""
