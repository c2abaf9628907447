"""The laptop pipeline's models under every strategy, and what each token buys."""
