"""When it runs: Prefect flows over the stages; nothing here changes a result."""
