"""The search for a measure: one linear program, one policy, and what is asked of them."""
