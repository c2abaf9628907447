"""Problems: generated worlds, files, normalising, splits."""
