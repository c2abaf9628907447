"""One file a decoding strategy."""
