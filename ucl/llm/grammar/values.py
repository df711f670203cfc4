"""What can stand on either side of a test, for each type.

In: a `Vocabulary`, and the `Definitions` that grow. Out: for a type, the rules of its literals, of its values (what a
test compares with), of its subjects (what a test is about) and of what can follow `in`; None where there is nothing.
An absent value has no place but before `??`, with a default of its type.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ucl.llm.grammar import literals
from ucl.llm.grammar.forms import (
    Chain,
    Choice,
    Form,
    Grammar,
    Literal,
    Times,
    Use,
    chain,
    choice,
    many,
    maybe,
    one_of,
    times,
)
from ucl.llm.grammar.vocabulary import Subject, Vocabulary
from ucl.semantics import types as t
from ucl.semantics.types import BOOL, DATE, DATETIME, DURATION, FLOAT, INT, TEXT, WEEKDAY, Type
from ucl.syntax.layout.expressions import quote

ORDERED = (t.Int, t.Float, t.Quantity, t.Duration, t.Date, t.Time, t.DateTime)
MEASURED = (t.Int, t.Float, t.Quantity, t.Duration)
# A comprehension's variable is called by the first of these that means nothing else.
_VARIABLES = ("a", "each", "one", "element")
TEXT_TESTS = ("contains", "ends_with", "like", "starts_with")


class Definitions:
    """The rules and terminals of a grammar that is being made, by name."""

    def __init__(self) -> None:
        self.rules: dict[str, Form] = {}
        self.terminals: dict[str, Form] = {}

    def rule(self, name: str, body: Form) -> Use:
        self.rules[name] = body
        return Use(name)

    def terminal(self, name: str, body: Form) -> Use:
        self.terminals[name] = body
        return Use(name)

    def rule_of(self, name: str, options: Iterable[Form | None]) -> Use | None:
        """A rule of those options that there are, or None where there are none."""
        kept = [option for option in options if option is not None]
        return self.rule(name, choice(*kept)) if kept else None

    def grammar(self, start: Form) -> Grammar:
        """What can be reached from the start, the start first."""
        rules, terminals = {"start": start}, {}
        waiting = [start]
        while waiting:
            for name in _uses(waiting.pop()):
                if name in self.terminals:
                    terminals[name] = self.terminals[name]
                elif name not in rules:
                    rules[name] = self.rules[name]
                    waiting.append(rules[name])
        return Grammar(rules, terminals)


def _uses(form: Form) -> Iterable[str]:
    match form:
        case Use(name):
            yield name
        case Chain(parts) | Choice(parts):
            for part in parts:
                yield from _uses(part)
        case Times(part):
            yield from _uses(part)


# --- white space ----------------------------------------------------------------------------------------------------

_NEW_LINE = chain("\n", times("  ", 2, 12))


def spaced(word: Form | str) -> Form:
    """A word between others, before which a line may break."""
    return chain(choice(" ", _NEW_LINE), word, " ")


class Values:
    """The rules for values, each made when it is first asked for, and the terminals for what joins them."""

    def __init__(self, vocabulary: Vocabulary, definitions: Definitions) -> None:
        self.vocabulary = vocabulary
        self.define = definitions
        self._keys: dict[Type, str] = {}
        self._made: dict[tuple[str, Type], Use | None] = {}
        terminal = definitions.terminal
        self.and_ = terminal("AND", spaced("and"))
        self.or_ = terminal("OR", spaced("or"))
        self.within = terminal("IN", spaced(choice("in", "not in")))
        self.equal = terminal("EQUAL", spaced(choice("==", "!=")))
        self.compare = terminal("COMPARE", spaced(one_of(("==", "!=", "<", "<=", ">", ">="))))
        self.comma = terminal("COMMA", chain(",", choice(" ", _NEW_LINE)))
        self.soft = maybe(terminal("BREAK", chain("\n", times("  ", 1, 12))))
        self._default = terminal("DEFAULT", spaced("??"))
        self._minus = terminal("MINUS", spaced("-"))
        self._plus_or_minus = terminal("PLUS_OR_MINUS", spaced(choice("+", "-")))
        self.types = self._types()

    def _types(self) -> list[Type]:
        """Those that tests can be about, in the order in which the vocabulary has them."""
        derived = (INT, BOOL, WEEKDAY, DURATION)
        functions = (t.present(function.result) for function in self.vocabulary.functions)
        return list(dict.fromkeys((*(s.type for s in self.vocabulary.subjects), *functions, *derived)))

    def key(self, type_: Type) -> str:
        """A name for the type, for use in the names of rules."""
        match type_:
            case t.Closed() | t.Quantity():
                kind = "closed" if isinstance(type_, t.Closed) else "quantity"
                return self._keys.setdefault(type_, f"{kind}_{len(self._keys) + 1}")
            case t.Set(element) if element is not None:
                return f"set_{self.key(element)}"
            case _:
                return str(type_)

    def _once(self, what: str, type_: Type, make: Callable[[Type], Use | None]) -> Use | None:
        if (what, type_) not in self._made:
            self._made[what, type_] = make(type_)
        return self._made[what, type_]

    def has(self, builtin: str) -> bool:
        return builtin in self.vocabulary.builtins

    def call(self, name: str, *arguments: Form) -> Form:
        """`f(x, y)`, which may be broken after its parentheses and commas."""
        inner: list[Form] = []
        for argument in arguments:
            inner += [self.comma, argument] if inner else [argument]
        return chain(f"{name}(", self.soft, *inner, self.soft, ")")

    # --- literals ---------------------------------------------------------------------------------------------------

    def literal(self, type_: Type) -> Use | None:
        return self._once("literal", type_, self._literal)

    def _literal(self, type_: Type) -> Use | None:
        name = self.key(type_).upper()
        form: Form | None
        match type_:
            case t.Closed(values):
                form = literals.closed(map(quote, values))
            case t.Quantity(dimension):
                units = self.vocabulary.units.get(dimension)
                form = literals.quantity(units) if units else None
            case t.Duration():
                form = literals.duration(self.vocabulary.units[None])
            case t.Set(element) if element is not None:
                return self.define.rule_of(f"{self.key(type_)}_literal", [self._set_literal(element)])
            case _:
                form = _PLAIN.get(type_)
        return None if form is None else self.define.terminal(name, form)

    def _set_literal(self, element: Type) -> Form | None:
        literal = self.literal(element)
        return None if literal is None else chain("{", self.soft, literal, many(self.comma, literal), self.soft, "}")

    def range(self, type_: Type) -> Use | None:
        """Ranges of literals."""
        return self._once("range", type_, self._range)

    def _range(self, type_: Type) -> Use | None:
        form: Form | None
        match type_:
            case t.Quantity(dimension):
                units = self.vocabulary.units.get(dimension)
                form = literals.quantity_range(units) if units else None
            case t.Duration():
                form = literals.duration_range(self.vocabulary.units[None])
            case t.Date() | t.DateTime():
                return self._open_range(type_)
            case _:
                form = _PLAIN_RANGES.get(type_)
        return None if form is None else self.define.terminal(f"{self.key(type_).upper()}_RANGE", form)

    def _open_range(self, type_: Type) -> Use:
        start = self.define.terminal("FROM_ON", literals.FROM_ON)
        end = self.define.terminal("UP_TO", literals.UP_TO)
        literal = self.define.terminal(self.key(type_).upper(), _PLAIN[type_])
        return self.define.rule(f"{self.key(type_)}_range", choice(chain(literal, start), chain(end, literal)))

    def tolerance(self, type_: Type) -> Use | None:
        """A terminal for what is certainly positive, where nothing beside it says the dimension."""
        match type_:
            case t.Int() | t.Float():
                return self.define.terminal("POSITIVE", literals.POSITIVE)
            case t.Quantity(dimension):
                units = self.vocabulary.units.get(dimension)
                name = f"POSITIVE_{self.key(type_).upper()}"
                return self.define.terminal(name, literals.positive_quantity(units)) if units else None
            case _:
                units = self.vocabulary.sure_units.get(None)
                form = literals.positive_duration(units) if units else None
                return None if form is None else self.define.terminal("POSITIVE_DURATION", form)

    # --- values and subjects ----------------------------------------------------------------------------------------

    def field(self, type_: Type) -> Use | None:
        """A terminal for what is always there."""
        return self._once("field", type_, self._field)

    def _field(self, type_: Type) -> Use | None:
        return self._named("FIELD", type_, lambda s: not s.guards and not s.optional)

    def _named(self, what: str, type_: Type, wanted: Callable[[Subject], bool]) -> Use | None:
        names = [s.text for s in self.vocabulary.subjects if s.type == type_ and wanted(s)]
        return self.define.terminal(f"{self.key(type_).upper()}_{what}", one_of(names)) if names else None

    def let(self, type_: Type) -> Use | None:
        return self._once("let", type_, self._let)

    def _let(self, type_: Type) -> Use | None:
        names = self.vocabulary.lets.get(type_)
        return self.define.terminal(f"{self.key(type_).upper()}_LET", one_of(names)) if names else None

    def _argument(self, type_: Type) -> Use | None:
        """What a function is given."""
        options = [self.literal(type_), self.field(type_), self.let(type_)]
        return self.define.rule_of(f"{self.key(type_)}_argument", options)

    def value(self, type_: Type) -> Use | None:
        """What a test compares with; the mean of ints is no int, but can be compared with one."""
        return self._once("value", type_, self._value)

    def _value(self, type_: Type) -> Use | None:
        options = [self._argument(type_), self._mean(type_), self._moved(type_)]
        return self.define.rule_of(f"{self.key(type_)}_value", options)

    def _mean(self, type_: Type) -> Form | None:
        field = self.field(type_)
        if field is None or not isinstance(type_, MEASURED) or not self.has("mean_of"):
            return None
        return chain("mean_of(", field, ")")

    def _moved(self, type_: Type) -> Form | None:
        """`today + 7d`, `limit - 2`"""
        field, amount = self.field(type_), None
        match type_:
            case t.Date():
                days = literals.whole_days(self.vocabulary.units[None])
                amount = None if days is None else self.define.terminal("WHOLE_DAYS", days)
            case t.DateTime():
                amount = self.literal(DURATION)
            case _ if isinstance(type_, MEASURED):
                amount = self.literal(type_)
        return None if field is None or amount is None else chain(field, self._plus_or_minus, amount)

    def subject(self, type_: Type) -> Use | None:
        """What a test is about."""
        return self._once("subject", type_, self._subject)

    def _subject(self, type_: Type) -> Use | None:
        options = [self.field(type_), self._with_default(type_), *self._calls(type_), *self._derived(type_)]
        return self.define.rule_of(f"{self.key(type_)}_subject", options)

    def _with_default(self, type_: Type) -> Form | None:
        optional = self._named("OPTION", type_, lambda s: s.optional and s.guards in ((), (s.text,)))
        default = self.literal(type_)
        return None if optional is None or default is None else chain(optional, self._default, default)

    def _calls(self, type_: Type) -> Iterable[Form]:
        for function in self.vocabulary.functions:
            arguments = [self._argument(t.present(parameter)) for parameter in function.parameters]
            given = [argument for argument in arguments if argument is not None]
            if t.present(function.result) != type_ or len(given) < len(arguments):
                continue
            called = self.call(function.name, *given)
            default = self.literal(type_)
            if not isinstance(function.result, t.Optional):
                yield called
            elif default is not None:
                yield chain(called, self._default, default)

    def _derived(self, type_: Type) -> Iterable[Form | None]:
        """What builtins make of other subjects."""
        if type_ == INT:
            yield self._derived_by("length", TEXT)
            for other in self.types:
                if isinstance(other, t.Set):
                    yield self._derived_by("size", other)
            yield self.ranked("rank_of")
            yield self.quantified("count")
        elif type_ == BOOL:
            yield from (self.ranked(builtin) for builtin in ("lowest", "highest"))
            yield from (self.quantified(builtin) for builtin in ("any", "all"))
        elif type_ == WEEKDAY:
            yield self._derived_by("night_of", DATETIME)
        elif type_ == DURATION:
            for moment in (self.field(DATETIME), self.field(DATE)):
                yield None if moment is None else chain(moment, self._minus, moment)
        if isinstance(type_, MEASURED):
            field = self.field(type_)
            yield None if field is None else chain(field, self._plus_or_minus, field)

    def _derived_by(self, builtin: str, argument: Type) -> Form | None:
        subject = self.subject(argument) if self.has(builtin) else None
        return None if subject is None else self.call(builtin, subject)

    def ranked(self, builtin: str) -> Form | None:
        """A question about the whole batch, of anything that has an order."""
        fields = [self.field(type_) for type_ in self.types if isinstance(type_, ORDERED)]
        ordered = self.define.rule_of("ordered", fields) if self.has(builtin) else None
        return None if ordered is None else chain(f"{builtin}(", ordered, ")")

    def quantified(self, builtin: str) -> Form | None:
        """`any(a in attendees where ends_with(a, "@corp.example"))`"""
        texts = self.subject(t.Set(TEXT)) if t.Set(TEXT) in self.types else None
        tests = [name for name in TEXT_TESTS if self.has(name)]
        variable = next((name for name in _VARIABLES if name not in self.vocabulary.values_named), None)
        if texts is None or variable is None or not tests or not self.has(builtin):
            return None
        literal = self.define.terminal("TEXT", literals.TEXT)
        where = self.define.terminal("WHERE", spaced("where"))
        test = self.define.rule("text_test", choice(*(self.call(name, Literal(variable), literal) for name in tests)))
        condition = self.define.rule("text_condition", choice(test, chain("not ", test)))
        return chain(f"{builtin}(", self.soft, f"{variable} in ", texts, where, condition, self.soft, ")")

    def among(self, type_: Type) -> Use | None:
        """What can follow `in` after a value of this type."""
        return self._once("among", type_, self._among)

    def _among(self, type_: Type) -> Use | None:
        ranges = self.vocabulary.ranges.get(type_)
        key = self.key(type_)
        named = self.define.terminal(f"{key.upper()}_RANGE_LET", one_of(ranges)) if ranges else None
        options: list[Form | None] = [self.range(type_), named]
        if isinstance(type_, t.Text | t.Closed | t.Int | t.Weekday | t.Date):
            options.append(self.literal(t.Set(type_)))
            sets = (t.Set(type_), t.Set(TEXT)) if isinstance(type_, t.Closed) else (t.Set(type_),)
            for container in sets:
                options += [self.let(container), self.subject(container)]
        return self.define.rule_of(f"{key}_among", options)


_PLAIN: dict[Type, Form] = {
    BOOL: literals.BOOL,
    INT: literals.INT,
    FLOAT: literals.FLOAT,
    TEXT: literals.TEXT,
    WEEKDAY: literals.WEEKDAY,
    DATE: literals.DATE,
    t.TIME: literals.TIME,
    DATETIME: literals.DATETIME,
}
_PLAIN_RANGES: dict[Type, Form] = {
    INT: literals.INT_RANGE,
    FLOAT: literals.FLOAT_RANGE,
    WEEKDAY: literals.WEEKDAY_RANGE,
    t.TIME: literals.TIME_RANGE,
}
