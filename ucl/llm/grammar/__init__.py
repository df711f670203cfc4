"""The typed sub-grammar: from a program and a schema to a grammar of what may be added to it.

    vocabulary     what of the program may be named, and with which types
    names          names for what is new, which clash with nothing
    literals       numbers, quantities, days and times, none of them impossible
    conditions     tests whose sides have one type, joined by `and`, `or`, `not`
    declarations   rules, constraints and properties around them
    targets        the grammar as Lark, llguidance, OpenAI, XGrammar and llama.cpp read it

In: a checked program, its module, and the name of a schema. Out: the text of a grammar whose every sentence, put at the
end of the program, parses and type-checks without an error, and is laid out as `fmt` does (a line may also be broken
where `fmt` would break a longer one). Not every right program is a sentence: arithmetic, `if`, comprehensions, and
closed ranges of dates are left out, since a grammar can't keep them right.
"""

from __future__ import annotations

from ucl.llm.grammar.declarations import grammar_of
from ucl.llm.grammar.targets import Target, written
from ucl.llm.grammar.vocabulary import Vocabulary, schema_names, schema_of, vocabulary_of

__all__ = ["Target", "Vocabulary", "grammar_of", "schema_names", "schema_of", "vocabulary_of", "written"]
