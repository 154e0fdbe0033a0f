"""What a certificate looks up in a history whatever the evidence will be: while the engine still decides, on another
core. Nothing of it is taken from the engine, and without it the certificate looks all of it up itself."""

from __future__ import annotations

from threading import Thread

from gradual.evidence.axioms import ModelText
from gradual.evidence.errors import CertificateError
from gradual.evidence.text import Text, alternatives


class Ahead:
    """Works on a text in the background, until somebody wants it."""

    def __init__(self, text: Text, model: ModelText) -> None:
        self._text = text
        self._model = model
        self._thread = Thread(target=self._look, daemon=True)
        self._thread.start()

    def text(self) -> Text:
        """With all that was found."""
        self._thread.join()
        return self._text

    def _look(self) -> None:
        try:
            for check in self._model.checks:
                for term in alternatives(check.expression):
                    self._text.look_up(term)
        except (CertificateError, MemoryError):
            pass  # the check itself says so, should it come to that
