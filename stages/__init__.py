"""What runs: one file a DVC stage, each with the same grammar: Params -> run() -> main()."""
