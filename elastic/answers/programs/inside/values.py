"""Values as JSON, so that they pass between a program and its checker as data and never as code.

Plain values come back as what they were: a tuple is no list, a set no list. Of subclasses only the plain value passes:
a number that claims to equal everything arrives as the number that it holds. Linked lists and binary trees pass by
their values. Anything else does not pass.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable
from typing import Any

from .nodes import ListNode, TreeNode, level_order, list_node, list_values, tree_node

Keep = Callable[[Any], Any]
Node = Callable[[Any], Any]


class NoValueError(TypeError):
    """A value that does not pass as data."""


def refuse(value: Any) -> Any:
    """Keep nothing.

    Raises:
        NoValueError: always.
    """
    raise NoValueError(f"a {type(value).__name__} is no plain value")


def encode(value: Any, keep: Keep = refuse) -> Any:
    """`value` as what JSON can hold; `keep` says what stands for a thing that is no plain value."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list):
        return [encode(item, keep) for item in value]
    if isinstance(value, tuple):
        return {"tuple": [encode(item, keep) for item in value]}
    if isinstance(value, dict):
        return {"dict": [[encode(key, keep), encode(item, keep)] for key, item in value.items()]}
    if isinstance(value, set):
        return {"set": [encode(item, keep) for item in value]}
    if isinstance(value, frozenset):
        return {"frozenset": [encode(item, keep) for item in value]}
    if isinstance(value, deque):
        return {"deque": [encode(item, keep) for item in value]}
    if isinstance(value, bytes | bytearray):
        return {"bytes": value.hex()}
    if isinstance(value, complex):
        return {"complex": [value.real, value.imag]}
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.generic):
        return encode(value.item(), keep)
    if hasattr(value, "val") and not isinstance(value, type):
        if hasattr(value, "next"):
            return {"list_node": [encode(item, keep) for item in list_values(value)]}
        if hasattr(value, "left") and hasattr(value, "right"):
            return {"tree_node": [encode(item, keep) for item in level_order(value)]}
    return keep(value)


def decode(data: Any, *, kept: Keep = refuse, list_class: Node = ListNode, tree_class: Node = TreeNode) -> Any:
    """The value that `encode` was given.

    Args:
        data: from JSON.
        kept: makes what stands for a thing that is no plain value.
        list_class, tree_class: classes of nodes, called with a value.
    """

    def read(data: Any) -> Any:
        if isinstance(data, list):
            return [read(item) for item in data]
        if not isinstance(data, dict):
            return data
        [(kind, inner)] = data.items()
        if kind == "object":
            return kept(inner)
        if kind == "dict":
            return {read(key): read(item) for key, item in inner}
        if kind == "bytes":
            return bytes.fromhex(inner)
        if kind == "complex":
            return complex(*inner)
        items = [read(item) for item in inner]
        if kind == "list_node":
            return list_node(items, list_class)
        if kind == "tree_node":
            return tree_node(items, tree_class)
        return {"tuple": tuple, "set": set, "frozenset": frozenset, "deque": deque}[kind](items)

    return read(data)
