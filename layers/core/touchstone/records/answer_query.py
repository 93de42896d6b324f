"""Which answers a list shows, and in which order: what every door parses, and what each line of a list is held to."""

from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import AfterValidator, Field, StringConstraints, ValidationError, WithJsonSchema, model_validator

from touchstone.answers.model import ENDED, Difficulty, EvaluationState, Method, SkipReason
from touchstone.errors import InputError
from touchstone.records.answer_items import CLAIMED_BEFORE, AnswerSummary, AttemptSummary, is_cut
from touchstone.records.ulids import first_ulid, is_ulid, last_ulid, ulid_moment
from touchstone.strict import Strict, fault_words
from touchstone.text import normalised, shortened

MAX_SEARCH_CHARS = 200
"""Of a search: a sentence. Each of its words is looked for in every text that is looked at."""
MAX_COST_USD = 1_000_000.0
WAITS_FOR = timedelta(days=10)
"""The id of a line of a batch is as old as its batch, and no line waits for longer."""
_FIRST, _LAST = "0", "Z"
"""Before and behind all ids."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LATEST = datetime(9999, 1, 1, tzinfo=UTC)
_OF_ATTEMPTS = ("model", "provider", "decided_by", "verdict", "skip_reason")


def _reasons(of: Any) -> tuple[str, ...]:
    """The words of a type that is a union of words, and of types of words."""
    if isinstance(of, str):
        return (of,)
    return tuple(word for part in get_args(getattr(of, "__value__", of)) for word in _reasons(part))


SKIP_REASONS = _reasons(SkipReason)
"""Why nobody decided, all words for it."""


def _a_reason(text: str) -> str:
    if text not in SKIP_REASONS:
        raise ValueError(f"it can be {', '.join(SKIP_REASONS[:-1])} or {SKIP_REASONS[-1]}")
    return text


def _some_words(text: str) -> str:
    """The text on one line, without characters that nobody sees."""
    line = " ".join("".join(each if each.isprintable() else " " for each in text).split())
    if not line:
        raise ValueError("it has no word to look for")
    return line


def _an_id(text: str) -> str:
    if not is_ulid(text):
        raise ValueError("it is no id of a batch, which has 26 characters")
    return text


def words_of(text: str) -> list[str]:
    """The words of a text as they are compared: without case, width and compatibility forms."""
    return normalised(text, "NFKC").casefold().split()


class AnswerQuery(Strict):
    """Which answers a list shows. What is left out (null) leaves out nothing; all that is given must hold.

    `model`, `provider`, `decided_by`, `verdict` and `skip_reason` hold together of one attempt, be it the one that is
    returned or not; an answer that was taken from an earlier one is by no model and no provider, as it is in the rates.
    """

    status: Annotated[
        Literal["verified", "unverified", "caution", "failed", "unfinished", "ended"] | None,
        Field(
            description="The badge; `failed`: there is no answer at all, `unfinished`: there is none yet, `ended`: any "
            "of the others."
        ),
    ] = None
    subject: Annotated[str, StringConstraints(min_length=1, max_length=64)] | None = None
    difficulty: Difficulty | None = None
    model: Annotated[
        Annotated[str, StringConstraints(min_length=1, max_length=128)] | None,
        Field(description="Which model answered, to the letter."),
    ] = None
    provider: Annotated[
        Annotated[str, StringConstraints(min_length=1, max_length=64)] | None,
        Field(description="Whose model answered; `caller`: the sender's own."),
    ] = None
    language: Literal["zh", "en"] | None = None
    batch: Annotated[
        Annotated[str, AfterValidator(_an_id)] | None, Field(description="The id of the batch that they came with.")
    ] = None
    since: Annotated[date | None, Field(alias="from", description="The first day on which they arrived (UTC).")] = None
    until: Annotated[date | None, Field(alias="to", description="The last day on which they arrived (UTC).")] = None
    decided_by: Annotated[Method | None, Field(description="How an attempt was decided; `none`: it was not.")] = None
    verdict: Annotated[
        Literal["right", "wrong", "decided", "none"] | None,
        Field(description="What was found of an attempt; `decided`: right or wrong, `none`: nobody decided."),
    ] = None
    skip_reason: Annotated[
        Annotated[str, AfterValidator(_a_reason), WithJsonSchema({"type": "string", "enum": SKIP_REASONS})] | None,
        Field(description="Why nobody decided an attempt."),
    ] = None
    evaluation: Annotated[EvaluationState | None, Field(description="Where the deep evaluation stands.")] = None
    label: Annotated[
        Literal["right", "wrong", "none"] | None,
        Field(description="What people said of an attempt; `none`: nobody said anything."),
    ] = None
    cost_from: Annotated[
        Annotated[float, Field(ge=0.0, le=MAX_COST_USD, allow_inf_nan=False)] | None,
        Field(description="US dollars at least; what is of unknown price is left out."),
    ] = None
    cost_to: Annotated[
        Annotated[float, Field(ge=0.0, le=MAX_COST_USD, allow_inf_nan=False)] | None,
        Field(description="US dollars at most; what is of unknown price is left out."),
    ] = None
    search: Annotated[
        Annotated[str, StringConstraints(max_length=MAX_SEARCH_CHARS), AfterValidator(_some_words)] | None,
        Field(description="Words of which each stands in the problem or in the answer, whatever their case."),
    ] = None
    sort: Literal["newest", "oldest"] = "newest"

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.since and self.until and self.since > self.until:
            raise ValueError("`from` is a day after `to`; give the earlier day as `from`")
        if self.cost_from is not None and self.cost_to is not None and self.cost_from > self.cost_to:
            raise ValueError("`cost_from` is more than `cost_to`; give the smaller amount as `cost_from`")
        return self

    @property
    def given(self) -> dict[str, Any]:
        """What was given, by the names that it has in addresses; nothing where the list shows all, newest first."""
        return self.model_dump(mode="json", by_alias=True, exclude_defaults=True)

    @property
    def filters(self) -> bool:
        """Whether lines of the list are left out that lie in its range of days."""
        return bool(self.given.keys() - {"sort"})

    def ids(self, *, oldest: datetime | None, begun: datetime | None) -> tuple[str, str]:
        """The first and the last id that can be meant.

        `oldest` is the moment of the oldest id from before `from` that may be meant, None where there is none; `begun`
        is when `batch` was.
        """
        first, last = _FIRST, _LAST
        if self.since is not None:
            begin = self.begin
            first = first_ulid(max(min(begin, oldest or begin), _EPOCH + CLAIMED_BEFORE) - CLAIMED_BEFORE)
        if self.until is not None:
            last = last_ulid(self.end)
        if self.batch is not None:  # its lines' ids are as old as itself
            begun = max(begun or ulid_moment(self.batch), _EPOCH + CLAIMED_BEFORE)
            first = max(first, first_ulid(begun - CLAIMED_BEFORE))
            last = min(last, last_ulid(begun + CLAIMED_BEFORE))
        return first, last

    @property
    def begin(self) -> datetime:
        """The first moment of the range of days."""
        return max(_midnight(self.since or date.min), _EPOCH + WAITS_FOR)

    @property
    def end(self) -> datetime:
        """The last moment of the range of days."""
        last = _LATEST if self.until is None else _midnight(self.until) + timedelta(days=1)
        return max(_EPOCH, last - timedelta(milliseconds=1))

    def batches_before(self) -> tuple[str, str] | None:
        """Between which ids the batches lie whose lines may have arrived in the range of days; None without `from`."""
        return None if self.since is None else (first_ulid(self.begin - WAITS_FOR), first_ulid(self.begin))

    def passes(self, line: AnswerSummary) -> bool | None:
        """Whether a line is meant, as far as the line says; None: its record has to be looked at.

        The label is not looked at here.
        """
        if not (self._arrived(line) and self._stands(line) and self._costs(line)):
            return False
        told = line.model_fields_set
        unsaid = self.language is not None and "language" not in told
        unsaid |= "attempts" not in told and any(getattr(self, name) is not None for name in _OF_ATTEMPTS)
        if not unsaid and not (self._in_language(line) and self._attempted(line)):
            return False
        found = self._said(line.problem, line.answer)
        if found is False and (is_cut(line.problem) or is_cut(line.answer)):
            return None
        return None if unsaid and found else found

    def passes_whole(self, line: AnswerSummary, *, problem: str | None, answer: str | None) -> bool:
        """Whether a record is meant, by its summary as it is made now and its whole texts."""
        stands = self._arrived(line) and self._stands(line) and self._costs(line)
        return stands and self._in_language(line) and self._attempted(line) and self._said(problem, answer)

    def _arrived(self, line: AnswerSummary) -> bool:
        day = line.created_at.astimezone(UTC).date()
        return (self.since is None or day >= self.since) and (self.until is None or day <= self.until)

    def _stands(self, line: AnswerSummary) -> bool:
        match self.status:
            case None:
                stands = True
            case "failed":
                stands = line.stage == "failed"
            case "unfinished":
                stands = line.stage not in ENDED
            case "ended":  # what counters count
                stands = line.stage in ENDED
            case status:
                stands = line.stage == "finished" and line.verification_status == status
        asked = {name: getattr(self, name) for name in ("subject", "difficulty", "evaluation")}
        stands &= all(wanted is None or getattr(line, name) == wanted for name, wanted in asked.items())
        return stands and (self.batch is None or line.batch_id == self.batch)

    def _costs(self, line: AnswerSummary) -> bool:
        if self.cost_from is None and self.cost_to is None:
            return True
        cost = line.cost_usd
        return (
            cost is not None
            and not line.unpriced_calls
            and (self.cost_from is None or cost >= self.cost_from)
            and (self.cost_to is None or cost <= self.cost_to)
        )

    def _in_language(self, line: AnswerSummary) -> bool:
        return self.language is None or line.language == self.language

    def _attempted(self, line: AnswerSummary) -> bool:
        if all(getattr(self, name) is None for name in _OF_ATTEMPTS):
            return True
        return any(self._made(attempt, line) for attempt in line.attempts)

    def _made(self, attempt: AttemptSummary, line: AnswerSummary) -> bool:
        of_somebody = self.model is not None or self.provider is not None
        if of_somebody and (line.retrieved_from is not None or attempt.method == "retrieved"):
            return False
        verdict = None if attempt.method is None else {True: "right", False: "wrong", None: "none"}[attempt.passed]
        if self.verdict == "decided" and verdict in {"right", "wrong"}:
            verdict = "decided"
        found = {
            "model": attempt.model,
            "provider": attempt.provider,
            "decided_by": attempt.method,
            "verdict": verdict,
            "skip_reason": attempt.skip_reason if attempt.passed is None else None,
        }
        return all(getattr(self, name) in {None, value} for name, value in found.items())

    def _said(self, problem: str | None, answer: str | None) -> bool:
        """Whether each word that is looked for stands in the problem or in the answer."""
        if self.search is None:
            return True
        texts = [" ".join(words_of(text)) for text in (problem, answer) if text]
        return all(any(word in text for text in texts) for word in words_of(self.search))


EVERY = AnswerQuery()
"""All answers, newest first."""


def answer_query(given: Mapping[str, str]) -> AnswerQuery:
    """The query that the fields of a form or of an address say; those left empty are left out.

    Raises `InputError`, of the first field that does not fit, with what it may be.
    """
    names = {field.alias or name for name, field in AnswerQuery.model_fields.items()}
    try:
        return AnswerQuery.model_validate({name: said for name, said in given.items() if name in names and said})
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, fault["loc"]))
        told = shortened(fault_words(fault).removeprefix("Value error, "), 500)
        raise InputError(f"{where}: {told}." if where else f"{told}.", where=where or None) from None


def _midnight(day: date) -> datetime:
    """The beginning of a day (UTC), within what ids can say."""
    return min(max(datetime.combine(day, time(), UTC), _EPOCH), _LATEST)
