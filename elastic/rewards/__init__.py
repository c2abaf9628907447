"""One short file a reward."""
