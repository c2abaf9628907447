"""What a person reads of a run (page, Markdown) and what a machine reads (summary); it measures nothing anew."""
