"""What kind of thing a gold answer is, by its spelling: for counts and gates, never for a verdict."""

from __future__ import annotations

import re

_INTEGER = re.compile(r"[+-]?(\d+|\d{1,3}(,\d{3})+)")
_DECIMAL = re.compile(r"[+-]?(\d+|\d{1,3}(,\d{3})+)?\.\d+")
_NUMBER = r"\{?[+-]?\d+(\.\d+)?\}?"
_FRACTION = re.compile(rf"[+-]?(\d+ )?(\\[dt]?frac ?{_NUMBER} ?{_NUMBER}|{_NUMBER} ?/ ?{_NUMBER})")
_CHOICE = re.compile(r"\(?[A-J]\)?")
_OPENED = re.compile(r"(?:\\left)? ?(?:\(|\[|\\\{|\{|\\langle)(.*?)(?:\\right)? ?(?:\)|\]|\\\}|\}|\\rangle)", re.DOTALL)
_WRAPPED = re.compile(r"\\(text|textbf|mathrm|mbox)\{([^{}]*)\}")
_WORDS = re.compile(r"[^\W\d_]{2,}([\s,.'’-]+[^\W\d_]+)*[.]?")


def _has_list(text: str) -> bool:
    """Whether a comma stands outside every pair of brackets but the outermost one."""
    inner = _OPENED.fullmatch(text)
    body = inner[1] if inner else text
    depth = 0
    for character in body:
        depth += (character in "([{") - (character in ")]}")
        if character in ",;" and depth == 0:
            return True
    return False


def answer_kind(answer: str, domain: str) -> str:
    """One of `code`, `none`, `integer`, `decimal`, `fraction`, `choice`, `tuple`, `text`, `expression`.

    Args:
        answer: a normalised gold answer; empty where tests judge.
        domain: of the problem.
    """
    if domain == "code":
        return "code"
    text = answer.strip()
    if not text:
        return "none"
    for kind, pattern in (("integer", _INTEGER), ("decimal", _DECIMAL), ("fraction", _FRACTION), ("choice", _CHOICE)):
        if pattern.fullmatch(text):
            return kind
    plain = _WRAPPED.sub(r"\2", text).strip()
    if _WORDS.fullmatch(plain):
        return "text"
    return "tuple" if _has_list(text) else "expression"
