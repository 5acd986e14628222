"""What asv measures at every commit it is given: ``make history``."""
