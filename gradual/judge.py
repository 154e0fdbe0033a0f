"""Checks what the adapters deliver, one history after the other, and keeps the exit status."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from gradual import pipeline, words
from gradual import record as records
from gradual.adapters import stem
from gradual.history import History, InputError
from gradual.progress import Progress
from gradual.verdict import Verdict, Witness


@dataclass(frozen=True)
class Judgement:
    """The answer for one history and one model, as text and as data."""

    text: str
    json: records.Record
    witness: records.Record | None = None


class Judge:
    """Judges histories against models. Nothing that happens to one history stops the next."""

    def __init__(self, models: list[str], engine: str = "auto", completion: str = "auto",
                 timeout: float | None = None) -> None:
        self.models = models
        self.engine = engine
        self.completion = completion
        self.timeout = timeout
        self._seen: Counter[str] = Counter()

    @property
    def status(self) -> int:
        """1 after a violation, else 2 after an error, 3 after an unknown, 0."""
        ranked = (("violation", 1), ("error", 2), ("unknown", 3))
        return next((status for verdict, status in ranked if verdict in self._seen), 0)

    def summary(self) -> str:
        """How many verdicts of each kind there were."""
        return "gradual: " + ", ".join(f"{count} {verdict}" for verdict, count in sorted(self._seen.items()))

    def records(self, item: History | InputError, progress: Progress) -> Iterator[Judgement]:
        for model in self.models:
            if isinstance(item, InputError):
                yield self._error(item.history or stem(item.file), item.file, model, str(item))
            else:
                progress.start(f"{item.name} under {model}")
                yield self._judge(item, model)

    def _judge(self, history: History, model: str) -> Judgement:
        try:
            verdict = pipeline.check(history, model, engine=self.engine, completion=self.completion,
                                     timeout=self.timeout)
        except Exception as error:  # a fault of ours must not cost the user the other histories
            fault = f"a fault in gradual, please report it with this trace: {type(error).__name__}: {error}"
            return self._error(history.name, history.file, model, fault)
        self._seen[verdict.verdict] += 1
        return Judgement(_text(verdict, history), records.record(verdict, history),
                         records.witness_record(verdict, verdict.evidence, history)
                         if isinstance(verdict.evidence, Witness) else None)

    def _error(self, name: str, file: str, model: str, message: str) -> Judgement:
        self._seen["error"] += 1
        return Judgement(f"{_title(file, name)}: {model} error: {message}",
                         records.error_record(name, file, model, message))


def _text(verdict: Verdict, history: History) -> str:
    return "\n".join([f"{_title(history.file, history.name)}: {words.summary(verdict, history)}",
                      *(f"    {line}" for line in words.explain(verdict.evidence, history))])


def _title(file: str, name: str) -> str:
    """The file, and the history in it where the file's name does not say."""
    return file if name in ("", stem(file)) else f"{file} [{name}]"
