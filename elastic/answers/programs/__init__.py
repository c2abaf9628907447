"""Programs as answers: how one is found, given its imports, run against tests and judged by what it says."""
