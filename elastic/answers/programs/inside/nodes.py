"""LeetCode's nodes and the helpers that check sources call: linked lists and binary trees, made and compared."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any


class ListNode:
    """A node of a singly linked list."""

    def __init__(self, val: Any = 0, next: Any = None) -> None:
        self.val = val
        self.next = next


class TreeNode:
    """A node of a binary tree."""

    def __init__(self, val: Any = 0, left: Any = None, right: Any = None) -> None:
        self.val = val
        self.left = left
        self.right = right


def list_node(values: list[Any], node: Callable[[Any], Any] = ListNode) -> Any:
    """The linked list of these values; None for no values."""
    head = None
    for value in reversed(values):
        head, rest = node(value), head
        head.next = rest
    return head


def list_values(head: Any) -> list[Any]:
    """Values of a linked list.

    Raises:
        ValueError: it runs in a circle.
    """
    values, seen = [], set()
    while head is not None:
        if id(head) in seen:
            raise ValueError("the linked list runs in a circle")
        seen.add(id(head))
        values.append(head.val)
        head = head.next
    return values


def tree_node(values: list[Any], node: Callable[[Any], Any] = TreeNode) -> Any:
    """The binary tree of these values in level order, None for a missing child; None for no values."""
    if not values:
        return None
    rest = iter(values)
    root = node(next(rest))
    waiting = deque([root])
    while waiting:
        parent = waiting.popleft()
        for side in ("left", "right"):
            value = next(rest, None)
            if value is not None:
                child = node(value)
                setattr(parent, side, child)
                waiting.append(child)
    return root


def level_order(root: Any) -> list[Any]:
    """Values of a binary tree in level order, None for a missing child, without the Nones at the end.

    Raises:
        ValueError: a node is met twice.
    """
    values: list[Any] = []
    waiting, seen = deque([root]), set()
    while waiting:
        node = waiting.popleft()
        if node is None:
            values.append(None)
            continue
        if id(node) in seen:
            raise ValueError("the binary tree meets a node twice")
        seen.add(id(node))
        values.append(node.val)
        waiting += (node.left, node.right)
    while values and values[-1] is None:
        values.pop()
    return values


def is_same_list(left: Any, right: Any) -> bool:
    """Whether two linked lists hold the same values."""
    return list_values(left) == list_values(right)


def is_same_tree(left: Any, right: Any) -> bool:
    """Whether two binary trees have the same shape and values."""
    return level_order(left) == level_order(right)
