"""Models that are made from nothing."""
