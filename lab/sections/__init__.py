"""One file a section of the report: what is asked, how it is measured, and the answer in one sentence."""
