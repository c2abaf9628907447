r"""Expressions read from tokens into trees, with the precedence that mathematicians read them with.

A tree is a tuple that starts with its kind:

    ("number", Fraction) ("symbol", name) ("constant", "pi" | "e" | "i")
    ("sum", terms) ("product", factors) ("quotient", a, b) ("power", a, b) ("root", a, degree)
    ("call", name, arguments)

What is not in this grammar (sums, integrals, limits, derivatives) is left to a slower judge.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

from elastic.answers.reading.tokens import Tokens

Tree = tuple[Any, ...]

_DEEPEST = 60
_LONGEST_NUMBER = 4000

_LATEX_FUNCTIONS = {
    *("sin", "cos", "tan", "cot", "sec", "csc", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh"),
    *("ln", "log", "exp", "arcsec", "arccsc", "arccot", "lg", "coth"),
}
PLAIN_FUNCTIONS = _LATEX_FUNCTIONS | {"sqrt", "abs", "cis", "floor", "ceil", "cbrt", "asin", "acos", "atan"}
_SAME_FUNCTION = {"asin": "arcsin", "acos": "arccos", "atan": "arctan"}
PLAIN_NAMES = {"pi": ("constant", "pi")} | {
    name: ("symbol", f"\\{name}") for name in ("theta", "alpha", "beta", "gamma", "lambda", "omega", "phi", "sigma")
}
_RUN = re.compile("|".join([*sorted(PLAIN_FUNCTIONS | set(PLAIN_NAMES), key=len, reverse=True), "[A-Za-z]"]))
# Letters that are read as functions where a parenthesis follows.
_FUNCTION_LETTERS = set("fghFGHPTO")
_INVERSE = {"sin": "arcsin", "cos": "arccos", "tan": "arctan", "cot": "arccot", "sec": "arcsec", "csc": "arccsc"}
_SYMBOL_NAMES = """
alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa lambda mu nu xi rho sigma tau upsilon phi
varphi chi psi omega Alpha Beta Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega ell hbar triangle angle
"""
_SYMBOL_COMMANDS = set(_SYMBOL_NAMES.split())
_ACCENTS = {"vec", "hat", "bar", "overline", "dot", "ddot", "tilde", "widehat", "overrightarrow", "widetilde"}
_MULTIPLY = {"*", "\\cdot", "\\times"}
_DIVIDE = {"/", "\\div", ":"}
_STOPS = {
    ")",
    "]",
    "}",
    "\\}",
    "+",
    "-",
    "*",
    "/",
    "\\cdot",
    "\\times",
    "\\div",
    ":",
    ",",
    "!",
    "\\rfloor",
    "\\rceil",
} | {*("=", "<", ">", "\\le", "\\ge", "^", "_", "%", "\\pm", "\\mp", "\\rangle", ";", "&", "\\\\")}


class UnknownError(Exception):
    """The expression is outside the grammar; it may be good mathematics all the same."""


class MalformedError(UnknownError):
    """The text is no expression, or one without a value: an operator without its operand, infinity in a sum."""


def number(value: int | Fraction) -> Tree:
    """The tree of a number."""
    return ("number", Fraction(value))


class _Parser:
    def __init__(self, tokens: Tokens) -> None:
        self.tokens, self.place, self.depth, self.bars = tokens, 0, 0, 0
        self.items = tokens.items
        self.end = len(tokens)

    def text(self, ahead: int = 0) -> str:
        place = self.place + ahead
        return self.items[place].text if place < self.end else ""

    def inside(self, start: int, end: int) -> Tree:
        """The expression between two brackets."""
        kept = self.place, self.end, self.bars
        chosen = self.choose(start, end)
        if chosen:
            return ("call", "binomial", (self.inside(start, chosen), self.inside(chosen + 1, end)))
        self.place, self.end, self.bars = start, end, 0
        tree = self.sum()
        if self.place != end:
            raise UnknownError(self.text())
        self.place, self.end, self.bars = kept
        return tree

    def choose(self, start: int, end: int) -> int:
        r"""Place of a `\choose` outside all brackets between `start` and `end`; 0 where there is none."""
        place = start
        while place < end:
            if self.items[place].text == "\\choose":
                return place
            place = self.tokens.closed_by.get(place, place) + 1
        return 0

    def group(self) -> Tree:
        """The bracketed expression that starts here."""
        closing = self.tokens.closed_by.get(self.place)
        if closing is None or closing > self.end:
            raise UnknownError(self.text())
        start, end = self.place + 1, closing
        # Brackets around brackets are opened in one go, however many there are.
        while start < end and self.items[start].text in "([{" and self.tokens.closed_by.get(start) == end - 1:
            start, end = start + 1, end - 1
        tree = self.inside(start, end)
        self.place = closing + 1
        return tree

    def sum(self) -> Tree:
        self.deeper()
        terms: list[Tree] = []
        while True:
            negative = False
            signed = False
            while self.place < self.end and self.items[self.place].text in "+-":
                negative ^= self.text() == "-"
                signed = True
                self.place += 1
            if terms and not signed:
                break
            term = self.product()
            terms.append(("product", (number(-1), term)) if negative else term)
            if self.place >= self.end or self.items[self.place].text not in ("+", "-"):
                break
        self.depth -= 1
        return terms[0] if len(terms) == 1 else ("sum", tuple(terms))

    def starts_factor(self) -> bool:
        if self.place >= self.end:
            return False
        text = self.items[self.place].text
        if text == "|":
            return self.bars == 0
        return text not in _STOPS

    def product(self) -> Tree:
        factors = [self.factor()]
        divisions = 0
        while self.place < self.end:
            text = self.items[self.place].text
            if text in _MULTIPLY:
                self.place += 1
                factors.append(self.signed_factor())
            elif text in _DIVIDE:
                self.place += 1
                start = self.place
                below = self.signed_factor()
                if below[0] == "product" and self.items[start].kind == "letters":
                    raise UnknownError("ambiguous quotient")
                factors = [("quotient", factors[0] if len(factors) == 1 else ("product", tuple(factors)), below)]
                divisions += 1
                if divisions > _DEEPEST // 2:
                    raise UnknownError("too many quotients")
            elif self.starts_factor():
                if divisions and factors[-1][0] == "quotient" and factors[-1][2][0] != "number":
                    # x/yz may be meant as x/(yz); 3/4 x is what it is.
                    raise UnknownError("ambiguous quotient")
                if self.items[self.place].kind == "number" and self.items[self.place - 1].kind == "number":
                    raise MalformedError("two numbers side by side")
                factors.append(self.factor())
            else:
                break
        return factors[0] if len(factors) == 1 else ("product", tuple(factors))

    def signed_factor(self) -> Tree:
        negative = False
        while self.text() in ("+", "-") and self.text():
            negative ^= self.text() == "-"
            self.place += 1
        tree = self.factor()
        return ("product", (number(-1), tree)) if negative else tree

    def factor(self) -> Tree:
        return self.postfixed(self.base())

    def postfixed(self, tree: Tree) -> Tree:
        while self.place < self.end:
            text = self.items[self.place].text
            if text == "!":
                if self.text(1) == "!":
                    raise (
                        MalformedError("iterated factorial")
                        if self.text(2) == "!"
                        else UnknownError("double factorial")
                    )
                self.place += 1
                tree = ("call", "factorial", (tree,))
            elif text == "%":
                if self.text(1) == "%":
                    raise MalformedError("two signs")
                self.place += 1
                tree = ("quotient", tree, number(100))
            elif text == "^":
                if self.text(1) == "\\circ":
                    self.place += 2
                    tree = self.degrees(tree)
                elif self.text(1) == "{" and self.text(2) == "\\circ" and self.text(3) == "}":
                    self.place += 4
                    tree = self.degrees(tree)
                else:
                    self.place += 1
                    tree = ("power", tree, self.exponent())
            else:
                break
        return tree

    @staticmethod
    def degrees(tree: Tree) -> Tree:
        return ("product", (tree, ("constant", "pi"), ("number", Fraction(1, 180))))

    def exponent(self) -> Tree:
        if self.text() in ("'", "\\prime", "*", "T") and self.text():
            raise UnknownError("a mark, no power")
        if self.text() == "-":
            if self.text(1) == "-":
                raise UnknownError("two signs")
            self.place += 1
            return ("product", (number(-1), self.exponent()))
        if self.place < self.end and self.items[self.place].kind == "number":
            return self.digits_argument(plain=True)
        self.no_run()
        base = self.base()
        if self.text() == "^" and self.text(1) != "\\circ":
            self.place += 1
            self.deeper()
            tree = ("power", base, self.exponent())
            self.depth -= 1
            return tree
        return base

    def digits_argument(self, *, plain: bool = False) -> Tree:
        r"""A number where LaTeX takes one digit: `x^23` is meant as x^{23}; `\frac12` is not."""
        text = self.text()
        self.place += 1
        if plain or len(text) == 1:
            return ("number", Fraction(text))
        raise UnknownError("digits that LaTeX would part")

    def fraction(self) -> Tree:
        parts: list[Tree] = []
        split: list[str] = []
        for _ in range(2):
            if split:
                parts.append(("number", Fraction(split.pop())))
            elif self.text() == "{":
                parts.append(self.group())
            elif self.place < self.end and self.items[self.place].kind == "number" and self.text().isdigit():
                digits = self.text()
                self.place += 1
                if len(digits) > 2:
                    raise UnknownError("digits that LaTeX would part")
                split = [digits[1]] if len(digits) == 2 else []
                parts.append(("number", Fraction(digits[0])))
            elif self.place < self.end and self.items[self.place].kind == "letters" and len(self.text()) > 1:
                raise UnknownError("letters that LaTeX would part")
            else:
                parts.append(self.base())
        if split:
            raise UnknownError("digits that LaTeX would part")
        return ("quotient", parts[0], parts[1])

    def argument(self) -> Tree:
        """What a command such as a root takes: a group or a single token."""
        if self.text() == "{":
            return self.group()
        if self.place < self.end and self.items[self.place].kind == "number":
            return self.digits_argument(plain=True)
        self.no_run()
        return self.base()

    def no_run(self) -> None:
        """Refuse several letters where LaTeX takes one, unless they are a name.

        Raises:
            UnknownError: they stand here.
        """
        if self.place < self.end and self.items[self.place].kind == "letters":
            run = self.items[self.place]
            if len(run.text) > 1 and not run.word and run.text not in PLAIN_NAMES and run.text not in PLAIN_FUNCTIONS:
                raise UnknownError("letters that LaTeX would part")

    def deeper(self) -> None:
        """Count one level of nesting.

        Raises:
            MalformedError: there are too many.
        """
        self.depth += 1
        if self.depth > _DEEPEST:
            raise MalformedError("too deep")

    def base(self) -> Tree:
        self.deeper()
        tree = self.bare_base()
        self.depth -= 1
        return tree

    def bare_base(self) -> Tree:
        if self.place >= self.end:
            raise MalformedError("an end where something must stand")
        token = self.items[self.place]
        if token.kind == "number":
            return self.numeral()
        if token.kind == "letters":
            return self.letters()
        text = token.text
        if text in ("(", "[", "{"):
            return self.group()
        if token.kind == "command":
            return self.command(text[1:])
        if text == "|":
            return self.absolute()
        raise MalformedError(text) if text in _STOPS else UnknownError(text)

    def absolute(self) -> Tree:
        self.place += 1
        self.bars += 1
        tree = self.sum()
        self.bars -= 1
        if self.text() != "|":
            raise MalformedError("a bar without its partner")
        self.place += 1
        return ("call", "abs", (tree,))

    def numeral(self) -> Tree:
        text = self.text()
        if len(text) > _LONGEST_NUMBER:
            raise UnknownError("too many digits")
        self.place += 1
        value = Fraction(text)
        if self.text() == "\\overline" and self.text(1) == "{" and self.text(3) == "}" and self.text(2).isdigit():
            if "." not in text and self.text(-1) != ".":
                raise UnknownError("a bar over digits")
            block = self.text(2)
            self.place += 4
            places = len(text.partition(".")[2])
            return ("number", value + Fraction(int(block), 10**places * (10 ** len(block) - 1)))
        if self.text() == "_":
            raise UnknownError("a base")
        mixed = self.mixed_part() if text.isdigit() else None
        if mixed is not None:
            return ("number", value + mixed)
        if (
            self.text() in ("e", "E")
            and self.items[self.place].kind == "letters"
            and not self.items[self.place].spaced
            and (
                (self.place + 1 < self.end and self.items[self.place + 1].kind == "number" and self.text(1).isdigit())
                or (self.text(1) == "-" and self.text(2).isdigit() and "." in text)
            )
        ):
            self.place += 1
            sign = -1 if self.text() == "-" else 1
            self.place += self.text() == "-"
            exponent = int(self.text()[:5])
            self.place += 1
            if exponent > 3000:
                raise UnknownError("too large")
            return ("number", value * Fraction(10) ** (sign * exponent))
        return ("number", value)

    def mixed_part(self) -> Fraction | None:
        r"""The proper fraction of whole digits right after an integer: `3\frac12` is three and a half."""
        start = self.place
        if self.text() == "\\frac":
            self.place += 1
            try:
                _, above, below = self.fraction()
            except UnknownError:
                self.place = start
                return None
            if above[0] == below[0] == "number" and above[1].denominator == below[1].denominator == 1:
                if 0 < above[1] < below[1] and self.text() not in ("^", "!"):
                    return Fraction(above[1], below[1])
                raise UnknownError("a number and an improper fraction side by side")
            self.place = start
        elif (
            self.place + 2 < self.end
            and self.items[self.place].kind == self.items[self.place + 2].kind == "number"
            and self.text(1) == "/"
            and self.text().isdigit()
            and self.text(2).isdigit()
        ):
            above_, below_ = int(self.text()), int(self.text(2))
            if 0 < above_ < below_:
                self.place += 3
                return Fraction(above_, below_)
        return None

    def letters(self) -> Tree:
        token = self.items[self.place]
        run = token.text
        known = run in PLAIN_FUNCTIONS or run in PLAIN_NAMES
        if token.word and len(run) > 1 and not known:
            self.place += 1
            return self.subscripted(f"word:{run.casefold()}")
        names = _RUN.findall(run)
        if len(names) > 40 or not run.isascii():
            raise UnknownError("a long run of letters")
        self.place += 1
        factors: list[Tree] = []
        for place, name in enumerate(names):
            last = place == len(names) - 1
            if name in PLAIN_NAMES:
                factors.append(PLAIN_NAMES[name])
            elif len(name) > 1:
                if not last:
                    raise UnknownError("a function without its argument")
                factors.append(self.call(name))
            elif name == "e" or name == "i":
                if last and self.text() == "_":
                    factors.append(self.subscripted(name))
                else:
                    factors.append(("constant", name))
            elif name == "d" and len(names) == 2 and place == 0 and not token.word:
                factors.append(("symbol", f"d{names[1]}"))
                if self.text() in ("_", "'", "^"):
                    raise UnknownError("a differential")
                break
            elif last:
                factors.append(self.symbol(name))
            else:
                factors.append(("symbol", name))
        if len(factors) == 1:
            return factors[0]
        # A power binds to the last letter alone.
        factors[-1] = self.postfixed(factors[-1])
        return ("product", tuple(factors))

    def symbol(self, name: str) -> Tree:
        if name in _FUNCTION_LETTERS and self.text() == "(":
            return self.applied(name)
        if name in _FUNCTION_LETTERS and [self.text(ahead) for ahead in range(6)] == ["^", "{", "-", "1", "}", "("]:
            raise UnknownError("an inverse function")
        return self.subscripted(name)

    def applied(self, name: str) -> Tree:
        closing = self.tokens.closed_by[self.place]
        arguments = self.tokens.cut(self.place + 1, closing)
        commas = [place for place in arguments.top if arguments.text(place) == ","]
        trees = tuple(parse(part) for part in arguments.split(commas))
        self.place = closing + 1
        return ("call", name, trees)

    def subscripted(self, name: str) -> Tree:
        while self.text() in ("_", "'", "\\prime") and self.text():
            if self.text() != "_":
                self.place += 1
                name += "'"
                continue
            start = self.place + 1
            end = self.tokens.closed_by.get(start, start) + 1
            if start >= self.end:
                raise UnknownError("an end where something must stand")
            if end == start + 1 and self.items[start].kind == "letters" and len(self.items[start].text) > 1:
                raise UnknownError("letters that LaTeX would part")
            index = "".join(token.text for token in self.items[start:end]).strip("{}")
            self.place = end
            name += f"_{index}"
        if self.text() == "^" and self.text(1) in ("\\prime", "'"):
            raise UnknownError("a derivative")
        return ("symbol", name)

    def command(self, name: str) -> Tree:
        if name == "frac":
            self.place += 1
            return self.fraction()
        if name == "sqrt":
            self.place += 1
            degree: Tree = number(2)
            if self.text() == "[":
                degree = self.group()
            return ("root", self.argument(), degree)
        if name in ("pi",):
            self.place += 1
            return ("constant", "pi")
        if name == "infty":
            raise MalformedError("infinity is no number")
        if name in _LATEX_FUNCTIONS:
            self.place += 1
            return self.call(name)
        if name == "binom":
            self.place += 1
            return ("call", "binomial", (self.argument(), self.argument()))
        if name in ("lfloor", "lceil"):
            closing = self.tokens.closed_by.get(self.place)
            if closing is None or self.items[closing].text != f"\\r{name[1:]}":
                raise UnknownError(name)
            return ("call", "floor" if name == "lfloor" else "ceil", (self.group(),))
        if name in _ACCENTS:
            self.place += 1
            start = self.place
            end = self.tokens.closed_by.get(start, start) + 1
            text = "".join(token.text for token in self.items[start:end]).strip("{}")
            self.place = end
            return self.subscripted(f"\\{name} {text}")
        if name in _SYMBOL_COMMANDS:
            self.place += 1
            if name in ("phi", "Gamma") and self.text() == "(":
                return self.applied(name)
            return self.subscripted(f"\\{name}")
        raise UnknownError(name)

    def call(self, name: str) -> Tree:
        name = _SAME_FUNCTION.get(name, name)
        base: Tree | None = None
        power: Tree | None = None
        if name == "log" and self.text() == "_":
            self.place += 1
            base = self.argument()
        if self.text() == "^":
            self.place += 1
            power = self.exponent()
            if power == ("product", (number(-1), number(1))):
                if name not in _INVERSE:
                    raise UnknownError("an inverse function")
                name, power = _INVERSE[name], None
        if self.text() == "(":
            argument = self.group()
        elif self.text() == "{" or self.text() == "[" or self.text() == "|":
            argument = self.base()
        else:
            argument = self.bare_argument()
        if name == "sqrt" or name == "cbrt":
            tree: Tree = ("root", argument, number(2 if name == "sqrt" else 3))
        elif name == "exp":
            tree = ("power", ("constant", "e"), argument)
        elif base is not None:
            tree = ("quotient", ("call", "ln", (argument,)), ("call", "ln", (base,)))
        elif name == "cis":
            turned = ("product", (("constant", "i"), argument))
            tree = ("power", ("constant", "e"), turned)
        else:
            tree = ("call", name, (argument,))
        return tree if power is None else ("power", tree, power)

    def bare_argument(self) -> Tree:
        r"""The argument without parentheses: the factors up to a sign or another function (`\sin 2x \cos x`)."""
        factors = [self.signed_factor()]
        while self.starts_factor() and self.text()[1:] not in _LATEX_FUNCTIONS and self.text() not in "([":
            if self.items[self.place].kind == "letters" and self.text() in PLAIN_FUNCTIONS:
                break
            factors.append(self.factor())
        if self.text() == "/":
            raise UnknownError("ambiguous quotient")
        return factors[0] if len(factors) == 1 else ("product", tuple(factors))


def parse(tokens: Tokens) -> Tree:
    """The tree of an expression.

    Raises:
        UnknownError: it is outside the grammar, ambiguous, or nested too deeply.
    """
    return _Parser(tokens).inside(0, len(tokens))
