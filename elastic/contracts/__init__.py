"""What passes between stages: frames (pandera), records and params (pydantic)."""
