"""One strict pydantic model a stage, in a file named as the stage."""
