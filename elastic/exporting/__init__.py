"""What leaves the pipeline: a checkpoint's card and the checks that it must pass."""
