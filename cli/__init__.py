"""The command `elastic`."""
