"""A statement's way to a draft: think, write, and mend what the compiler and the judge find, at most so many times.

    statement ─▶ thought ─▶ answer ─▶ admitted ─▶ judged ─▶ Draft, or Question where only the person can decide
                    │         ▲           │          │
                    │         └── told ◀──┴──────────┘        ... until `rounds` is over: Failure
                    └─▶ FactOnly, Question: nothing is written

In: a base, a statement as it was read, a model. Out: a `Result`, always: a `ModelError` becomes a `Failure`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeVar

from ucl.llm.client import Answer, Ask, ErrorCode, Model, ModelError, Program, Prose, Usage
from ucl.llm.drafts.base import Addition, Base
from ucl.llm.drafts.judge import SAMPLES, judged
from ucl.llm.drafts.promises import sign_of
from ucl.llm.drafts.results import (
    Asking,
    Attempt,
    Course,
    Doubt,
    Draft,
    FactOnly,
    Failure,
    Question,
    Result,
)
from ucl.llm.drafts.statements import claims_kept
from ucl.llm.drafts.words import in_words
from ucl.llm.extraction.dates import said_days
from ucl.llm.extraction.vague import happens_once, open_words
from ucl.llm.grammar import Target, Vocabulary, grammar_of, written
from ucl.llm.prompts import on_one_line, shots_for, slice_of, thinking, writing
from ucl.llm.prompts.shots import Shot
from ucl.llm.prompts.slices import Slice
from ucl.llm.writing.admit import Admitted, admitted, compiles, with_promises
from ucl.llm.writing.grounding import unsaid
from ucl.llm.writing.statement import Read
from ucl.llm.writing.thought import Thought, Verdict, expected_sign, read_thought
from ucl.semantics import program as p
from ucl.semantics.zones import Zone

T = TypeVar("T")

ROUNDS = 3
_MOST_THOUGHT = 1500
# Without a thought of these a program may come all the same.
_PASSING = (ErrorCode.EMPTY, ErrorCode.TRUNCATED, ErrorCode.UNREADABLE)


@dataclass(frozen=True)
class Manner:
    """How to write. `rounds` are those of mending; `now` is the instant (microseconds) from which on a draft shall
    hold; without `think` the program is written at once."""

    now: int
    rounds: int = ROUNDS
    samples: int = SAMPLES
    think: bool = True


# One thread: a solver serves one at a time.
_ASIDE = ThreadPoolExecutor(max_workers=1, thread_name_prefix="ucl-judge")


async def aside(work: Callable[[], T]) -> T:
    """Does what takes long beside the event loop, in which other statements wait for answers with a time-out."""
    return await asyncio.get_running_loop().run_in_executor(_ASIDE, work)


@dataclass
class _Way:
    """What one statement has taken so far."""

    notes: tuple[str, ...]
    attempts: list[Attempt] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)

    @property
    def course(self) -> Course:
        return Course(tuple(self.attempts), self.usage, self.notes)


async def draft_of(base: Base, schema: str, read: Read, model: Model, manner: Manner) -> Result:
    """What comes of one statement about a schema of the base, which is one of its `schema_names`."""
    return await _Writer(base, schema, read, model, manner).result()


class _Writer:
    def __init__(self, base: Base, schema: str, read: Read, model: Model, manner: Manner) -> None:
        self._base, self._schema, self._read = base, schema, read
        self._model, self._manner = model, manner
        self._way = _Way(read.notes)
        zone = Zone.load(base.program.timezone)
        assert zone is not None
        self._zone = zone
        self._said = read.statement.facts
        self._sign = expected_sign(read.text, self._said)
        # What a model was told once and has not changed is then meant, and a matter for the person.
        self._told: set[str] = set()

    async def result(self) -> Result:
        early = self._without_model()
        if early is not None:
            return early
        text = self._read.text
        slice_ = slice_of(self._base.program, self._base.module, self._schema, text)
        shots = shots_for(text, self._schema)
        try:
            thought = await self._thought(slice_, shots) if self._manner.think else None
            ended = None if thought is None else self._ended_by(thought)
            if ended is not None:
                return ended
            return await self._rounds(slice_, shots, thought)
        except ModelError as error:
            self._way.usage += error.usage
            return self._failure(str(error.code), error.message, error.help)

    # --- before anything is written ---------------------------------------------------------------------------------

    def _without_model(self) -> Result | None:
        text = self._read.text
        if not any(character.isalnum() for character in text):
            message = "there is no word in the statement" if text else "the statement is empty"
            return self._failure("nothing-said", message, "say what is wanted, in one sentence")
        left_open = None if self._said else open_words(text)
        if left_open is not None:
            asked = f'how much, when or who is meant by "{left_open}"?'
            return self._question([Doubt(Asking.VAGUE, asked)])
        if any(fact.topic is None for fact in self._said):
            why = "it happens once, or says nothing of what is wanted, so no rule follows from it"
            return FactOnly(text, self._said, why, self._way.course)
        return None

    async def _thought(self, slice_: Slice, shots: Sequence[Shot]) -> Thought | None:
        messages = thinking(slice_, shots, self._read.as_data)
        try:
            answer = await self._model.ask(Ask(messages, Prose(), most_output=_MOST_THOUGHT))
        except ModelError as error:
            if error.code not in _PASSING:
                raise
            self._way.usage += error.usage
            return None
        self._way.usage += answer.usage
        return read_thought(answer.text)

    def _ended_by(self, thought: Thought) -> Result | None:
        text, on = self._read.text, self._read.local.date()
        if thought.verdict is Verdict.EVENT or (thought.verdict is None and happens_once(text, on)):
            why = "it happens once, so no rule follows from it"
            return FactOnly(text, (self._read.as_fact(),), why, self._way.course)
        if thought.verdict is Verdict.VAGUE:
            asked = "it is not clear enough to be a rule; what exactly is meant?"
            if thought.question is not None:
                asked = f'it is not clear enough to be a rule; the model asks: "{thought.question}"'
            return self._question([Doubt(Asking.VAGUE, asked)])
        if thought.verdict is Verdict.NONE:
            message = f"nothing in the statement says what is wanted of a `{self._schema}`"
            return self._failure("nothing-said", message, "say what is liked, disliked or never to be")
        return None

    # --- writing and mending ----------------------------------------------------------------------------------------

    async def _rounds(self, slice_: Slice, shots: Sequence[Shot], thought: Thought | None) -> Result:
        messages = writing(slice_, shots, self._read.as_data, None if thought is None else thought.text)
        ask = Ask(messages, self._output(slice_.vocabulary))
        problems: tuple[str, ...] = ()
        for _ in range(self._manner.rounds + 1):
            answer = await self._model.ask(ask)
            self._way.usage += answer.usage
            looked = await aside(partial(self._looked_at, answer))
            problems = () if isinstance(looked, Draft | Question) else looked
            self._way.attempts.append(Attempt(answer.text, answer.path, "\n".join(problems)))
            if isinstance(looked, Draft | Question):
                return self._with_course(looked)
            ask = ask.again(answer, "\n".join([*problems, "Write all of it again, mended."]))
        rounds = "1 round" if self._manner.rounds == 1 else f"{self._manner.rounds} rounds"
        message = f"after {rounds} of mending the model's answer is still wrong: {problems[0]}"
        return self._failure("not-mended", on_one_line(message), "say it in other words, or ask another model")

    def _output(self, vocabulary: Vocabulary) -> Program:
        grammar = grammar_of(vocabulary)
        return Program({target: written(grammar, target) for target in Target}, self._accepts)

    def _accepts(self, text: str) -> bool:
        """Not whether it is admitted, which a server that obeys the grammar may fail to be."""
        return compiles(text, self._base)

    def _admitted(self, text: str) -> Admitted | tuple[str, ...]:
        return admitted(text, self._base, self._schema, self._read.origin)

    def _looked_at(self, answer: Answer) -> Draft | Question | tuple[str, ...]:
        """A result, or what the model has to mend."""
        if answer.problem is not None:
            return (answer.problem,)
        if not answer.complete:
            return ("the answer was cut off before its end; write less",)
        found = self._admitted(answer.text)
        if not isinstance(found, Admitted):
            return found
        own = _own(found.program, found.addition)
        new = [problem for problem in (*found.warnings, *self._sign_problems(own)) if problem not in self._told]
        if new:
            self._told.update(new)
            return tuple(new)
        promised = with_promises(self._base, found, self._schema, self._read.origin)
        manner = self._manner
        claims, unkept = claims_kept(self._base, promised, self._schema, self._said, manner.now, manner.samples)
        verdict = judged(self._base, promised, manner.now, manner.samples)
        untold = [problem for problem in unkept if problem not in self._told]
        if untold or verdict.wrong:
            self._told.update(untold)
            return (*untold, *verdict.wrong)
        evidence = replace(verdict.evidence, held=(*claims, *verdict.evidence.held))
        unlike = [Doubt(Asking.UNLIKE, f"{problem}; which is meant?", rules=promised.names) for problem in unkept]
        doubts = [*self._doubts(own), *unlike, *verdict.doubts]
        words = tuple(in_words(each, self._zone) for each in _own(verdict.program, promised))
        draft = Draft(
            self._read.text, self._schema, self._base, promised, words, evidence, self._way.course, self._said
        )
        return Question(self._read.text, tuple(doubts), self._way.course, draft) if doubts else draft

    def _sign_problems(self, own: Sequence[p.Rule | p.Constraint]) -> list[str]:
        rules = [each for each in own if isinstance(each, p.Rule)]
        wrong = self._sign is not None and rules and all(sign_of(rule.score) == -self._sign for rule in rules)
        if not wrong or len(rules) < len(own):
            return []
        side, score = ("for", "above") if self._sign == 1 else ("against", "below")
        return [f"the person speaks {side} it, and no score is {score} 0: is the sign right?"]

    def _doubts(self, own: Sequence[p.Rule | p.Constraint]) -> list[Doubt]:
        """What the words of the statement leave to ask."""
        doubts = []
        if self._sign_problems(own):
            sides = ("against", "for") if self._sign == -1 else ("for", "against")
            text = f"the words speak {sides[0]} it, and the model wrote a rule {sides[1]} it; which is meant?"
            doubts.append(Doubt(Asking.SIGN, text, rules=tuple(each.name for each in own)))
        if not self._said:
            on = self._read.local.date()
            made_up = unsaid(own, self._read.text, self._zone, on)
            if made_up:
                shown = ", ".join(f"`{literal}`" for literal in made_up[:6])
                doubts.append(Doubt(Asking.UNSAID, f"nobody said {shown}; is that what is meant?"))
            if happens_once(self._read.text, on):
                days = said_days(self._read.text, on)[0]
                words = self._read.text[days.start : days.end]
                text = f'"{words}" is {days.first.isoformat()}: shall it hold on other days too, from now on?'
                doubts.append(Doubt(Asking.ONCE, text))
        return doubts

    # --- results ----------------------------------------------------------------------------------------------------

    def _with_course(self, found: Draft | Question) -> Draft | Question:
        """With the last attempt in it too."""
        if isinstance(found, Draft):
            return replace(found, course=self._way.course)
        draft = None if found.draft is None else replace(found.draft, course=self._way.course)
        return replace(found, course=self._way.course, draft=draft)

    def _question(self, doubts: Sequence[Doubt]) -> Question:
        return Question(self._read.text, tuple(doubts), self._way.course)

    def _failure(self, code: str, message: str, help: str | None) -> Failure:
        return Failure(self._read.text, code, message, help, self._way.course)


def _own(program: p.Program, addition: Addition) -> list[p.Rule | p.Constraint]:
    declared: list[p.Rule | p.Constraint] = [*program.rules, *program.constraints]
    by_name = {each.name: each for each in declared}
    return [by_name[name] for name in addition.names if name in by_name]
