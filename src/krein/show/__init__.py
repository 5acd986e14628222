"""All that a person looks at: cards in notebooks, figures, progress. It draws what it is given, and stands below what gives it."""
