"""What an answer in mathematics means: read into tokens, structures and expressions, and compared piece by piece."""
