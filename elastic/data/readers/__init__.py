"""Readers: from a raw row of a public format to fields of the frame Collected, one short file a format.

A reader is a pure function of the raw fields that a source's YAML file maps to its arguments. It drops no row: what it
cannot make an answer of comes with an empty one, and curate rejects it with a reason.
"""
