"""A budget for every problem: predicted difficulty, and the choice under an allowance."""
