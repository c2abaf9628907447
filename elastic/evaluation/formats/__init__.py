"""Evaluations in the files of other tools, so that their readers, viewers and leaderboards can be used."""
