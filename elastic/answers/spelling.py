r"""One spelling for answers that differ in spacing, delimiters, wrappers, synonymous commands or script alone.

The result is LaTeX again. Nothing here knows what an answer means, and every pass is linear in the length of the text.
Pure functions without heavy imports: rewards are graded with them.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import groupby

# Longer texts keep all but their spaces.
_LONGEST = 100_000

_GREEK = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma sigma tau upsilon "
    "phi chi psi omega"
)
_SIGNS = {
    "-": "\u2212\u2010\u2011\u2012\u2013\u2014\ufe63\uff0d",
    "\\,": "\u00a0\u202f\u2007\u2009",
    "'": "\u2018\u2019\u2032",
    "''": "\u2033",
    '"': "\u201c\u201d",
    "/": "\u2215\u2044",
    ",": "\u3001\u066c",
    ".": "\u3002\u066b",
    "\\times ": "×",
    "\\cdot ": "·⋅∙",
    "\\div ": "÷",
    "\\pm ": "±",
    "\\mp ": "∓",
    "\\le ": "≤⩽",
    "\\ge ": "≥⩾",
    "\\ne ": "≠",
    "\\approx ": "≈≅",
    "\\equiv ": "≡",
    "\\infty ": "∞",
    "\\emptyset ": "∅",
    "\\cup ": "∪",
    "\\cap ": "∩",
    "\\in ": "∈",
    "\\setminus ": "∖",
    "\\land ": "∧",
    "\\lor ": "∨",
    "\\to ": "→",
    "\\sqrt ": "√",
    "\\sqrt[3] ": "∛",
    "\\angle ": "∠",
    "^\\circ ": "°º",
    "\\ldots ": "…",
    "\\lfloor ": "⌊",
    "\\rfloor ": "⌋",
    "\\lceil ": "⌈",
    "\\rceil ": "⌉",
    "\\langle ": "⟨",
    "\\rangle ": "⟩",
    "\\mathbb{R}": "ℝ",
    "\\mathbb{Z}": "ℤ",
    "\\mathbb{N}": "ℕ",
    "\\mathbb{Q}": "ℚ",
    "\\mathbb{C}": "ℂ",
    "\\euro ": "€",
    "\\pounds ": "£",
    "\\yen ": "¥",
    "\\phi ": "ϕ",
    "\\epsilon ": "ϵ",
    "\\mu ": "µ",
}
_CHARACTERS = str.maketrans(
    {character: text for text, characters in _SIGNS.items() for character in characters}
    | {chr(0x3B1 + place): f"\\{name} " for place, name in enumerate(_GREEK.split())}
    | {chr(0x391 + place): f"\\{name.title()} " for place, name in enumerate(_GREEK.split())}
)

_COMMANDS = {
    "\\frac": "dfrac tfrac cfrac",
    "\\binom": "dbinom tbinom",
    "\\le": "leq leqslant leqq",
    "\\ge": "geq geqslant geqq",
    "\\ne": "neq",
    "<": "lt",
    ">": "gt",
    "\\emptyset": "varnothing",
    "\\ldots": "dots cdots dotsc dotsb",
    "\\land": "wedge",
    "\\lor": "vee",
    "\\setminus": "backslash smallsetminus",
    "\\{": "lbrace",
    "\\}": "rbrace",
    "[": "lbrack",
    "]": "rbrack",
    "|": "lvert rvert vert mid",
    "^\\circ": "degree textdegree",
    "\\cdot": "ast centerdot",
    "\\$": "textdollar",
    "\\infty": "infin",
    " ": "thinspace enspace space quad qquad medspace thickspace",
    "": "negthinspace displaystyle textstyle limits nolimits mathstrut left right middle big Big bigg Bigg bigl bigr "
    "Bigl Bigr biggl biggr Biggl Biggr normalfont bfseries itshape ensuremath large Large LARGE huge Huge small tiny",
}
_SYNONYMS = {f"\\{name}": text for text, names in _COMMANDS.items() for name in names.split()} | {
    **dict.fromkeys(("\\,", "\\;", "\\:", "\\ ", "\\>", "~"), " "),
    "\\!": "",
    "\\left.": "",
    "\\right.": "",
    "\\\\": "\\\\",
}
_COMMAND = re.compile(r"\\(?:(?:left|right) ?\.(?![0-9])|[A-Za-z]+|.)|~", re.DOTALL)

# What is left of a backslash and a letter where a string literal read them as one escape.
_ESCAPED = re.compile(
    "\f(?=rac|box|orall)|\b(?=oxed|inom|egin|eta(?![a-z])|ar(?![a-z]))|\a(?=lpha|ngle|pprox)"
    "|\v(?=ec(?![a-z])|arnothing|ert)|\t(?=(?:ext|frac|binom) ?\\{|imes(?![a-z])|heta(?![a-z])|an(?![a-z])|au(?![a-z]))"
    "|\r(?=ight|ho(?![a-z])|angle|floor|ceil)"
)
_CONTROL = re.compile("[\a\b\t\v\f\r]")
_LETTER = {"\f": "f", "\b": "b", "\a": "a", "\v": "v", "\t": "t", "\r": "r"}

_PLAIN = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?|[A-Za-z]+")
_NUMERIC = frozenset("0123456789+-\\")
_BLANKS = re.compile(r"\s+")
_TWICE_ESCAPED = re.compile(r"\\\\(?=[A-Za-z])")
_DECORATION = re.compile(r"\\(?:textcolor|color|hspace\*?|vspace\*?|tag|label) ?\{[^{}]*\}")
_DECORATED = re.compile(r"color|space|\\tag|\\label")
_GROUP_SEPARATOR = re.compile(r"(?<=[0-9])(?:\\,|\{,\}|,\\!|\\!,) ?(?=[0-9]{3}(?![0-9]))")
_SPACED_GROUPS = re.compile(r"[+-]?(?:\\\$)?[0-9]{1,3}(?:[ '][0-9]{3})+(?:\.[0-9]+)?")
_CONTINENTAL = re.compile(r"[+-]?(?:[0-9]{1,3}(?:\.[0-9]{3})+,[0-9]+|[0-9]{1,3}(?:\.[0-9]{3}){2,})")
# A space says nothing, except between two words or numbers, and in "12, 350", which is no thousands separator.
_IDLE_SPACE = re.compile(r"(?<![A-Za-z0-9,]) | (?![A-Za-z0-9])|(?<=,) (?![0-9]{3}(?![0-9]))")
_SPACE_AFTER_COMMAND = re.compile(r"(\\[A-Za-z]+) (?![A-Za-z])")
_SINGLE_POWER = re.compile(r"([\^_])\{([A-Za-z0-9])\}")
_DOLLAR = re.compile(r"(?<!\\)\$")
_DELIMITERS = (("\\(", "\\)"), ("\\[", "\\]"), ("**", "**"), ("`", "`"))
_WRAPPER = re.compile(
    r"(?:\\(?:boxed|fbox|mbox|underline|emph|text(?:bf|it|rm|normal|up|sf)?|bm|boldsymbol|math(?:bf|it|rm|sf)))?"
    r" ?\{"
)
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)


def mend_escapes(text: str) -> str:
    r"""`text` with `\f`, `\b` and their like put back where a string literal swallowed the backslash of a command."""
    if not _CONTROL.search(text):
        return text
    return _ESCAPED.sub(lambda hit: f"\\{_LETTER[hit[0]]}", text)


def plain_characters(text: str) -> str:
    """ASCII or LaTeX for digits of any script, full-width forms, vulgar fractions, superscripts, signs, Greek."""
    pieces = []
    text = text.translate(_CHARACTERS)
    for kind, group in groupby(text, key=lambda c: unicodedata.decomposition(c).partition(" ")[0]):
        run = "".join(group)
        if kind == "<fraction>":
            pieces += [
                f"\\frac{{{a}}}{{{b}}}" for a, _, b in (unicodedata.normalize("NFKC", c).partition("⁄") for c in run)
            ]
        elif kind in ("<super>", "<sub>"):
            script = unicodedata.normalize("NFKC", run).replace("\u2212", "-")
            pieces.append(f"{'^' if kind == '<super>' else '_'}{{{script}}}")
        elif kind in ("<wide>", "<font>", "<square>", "<compat>"):
            pieces.append(unicodedata.normalize("NFKC", run))
        else:
            pieces += [str(unicodedata.decimal(c, c)) for c in run if unicodedata.category(c) != "Cf"]
    return "".join(pieces)


def _closing_braces(text: str) -> dict[int, int]:
    """Places of closing braces, by those of the opening ones."""
    closed_by, opened = {}, []
    for token in _BRACE.finditer(text):
        if token[0] == "{":
            opened.append(token.start())
        elif token[0] == "}" and opened:
            closed_by[opened.pop()] = token.start()
    return closed_by


def _peel(text: str) -> str:
    """`text` without the math delimiters, braces and commands that wrap the whole of it."""
    closed_by: dict[int, int] | None = None
    start, end = 0, len(text)
    while True:
        while start < end and text[start] == " ":
            start += 1
        while start < end and text[end - 1] in " .;" and text[end - 2 : end - 1] != "\\":
            end -= 1
        if start == end or text[end - 1] not in "})]*`" or text[start] not in "{\\*`":
            return text[start:end]
        wrapper = _WRAPPER.match(text, start) if text[end - 1] == "}" else None
        if wrapper:
            if closed_by is None:
                closed_by = _closing_braces(text)
            if closed_by.get(wrapper.end() - 1) != end - 1:
                return text[start:end]
            start, end = wrapper.end(), end - 1
            continue
        for opening, closing in _DELIMITERS:
            inner_start, inner_end = start + len(opening), end - len(closing)
            if (
                inner_start <= inner_end
                and text.startswith(opening, start)
                and text.endswith(closing, start, end)
                and text.find(closing, inner_start, inner_end) < 0
            ):
                start, end = inner_start, inner_end
                break
        else:
            return text[start:end]


def canonical(text: str) -> str:
    """One spelling of an answer, as LaTeX.

    Texts of more than 100,000 characters, blanks not counted, come back with single spaces and otherwise as they are.
    """
    if _PLAIN.fullmatch(text):
        return text
    text = mend_escapes(text)
    if not text.isascii():
        text = plain_characters(text)
    text = _BLANKS.sub(" ", text)
    if len(text) > _LONGEST:
        return text.strip()
    if "\\" in text or "~" in text or "{" in text:
        if "\\\\" in text and "\\begin" not in text:
            text = _TWICE_ESCAPED.sub(lambda _: "\\", text)
        if "," in text:
            text = _GROUP_SEPARATOR.sub(",", text)
        if _DECORATED.search(text):
            text = _DECORATION.sub("", text)
        text = _BLANKS.sub(" ", _COMMAND.sub(_synonym, text))
    if "$" in text:
        # One bare dollar before a figure is money; all others delimit mathematics.
        single = len(_DOLLAR.findall(text)) == 1
        text = _DOLLAR.sub(lambda hit: "\\$" if single and text[hit.end() : hit.end() + 1].isdigit() else " ", text)
    text = _peel(text)
    if text[:1] in _NUMERIC:
        if _SPACED_GROUPS.fullmatch(text):
            text = text.replace(" ", "").replace("'", "")
        elif _CONTINENTAL.fullmatch(text):
            text = text.replace(".", "").replace(",", ".")
    if " " in text:
        text = _IDLE_SPACE.sub("", _SPACE_AFTER_COMMAND.sub(r"\1", text))
    if "{" in text:
        text = _SINGLE_POWER.sub(r"\1\2", text)
    return text.replace("\\%", "%")


def _synonym(command: re.Match[str]) -> str:
    name = command[0]
    return _SYNONYMS.get(name if name[-1] != "." else name.replace(" ", ""), name)
