"""Logs of rocket-chip's TraceGen (groundtest): requests to the memory system and its responses. One is one history.

    1: load-req 0x0000000008 #0 @64              thread, request, address, tag, cycle
    0: store-req 5 0x0000100008 #7 @145          swap-req and store-cond-req alike; load-reserve-req as load-req
    1: resp 0 #0 @96                             value, tag, cycle
    0: fence-req @300
    0: fence-resp @310

A response answers the thread's last request of its tag; the order of requests is program order. Lines of other forms
are skipped: these are mixed into what a simulator prints. What becomes what, where there is a choice:

- Times begin with the request; those of loads, load-reserves and fences end with the response. Stores and swaps have no
  end, as in the project's own converter to axe.
- A store-conditional that is answered by 0 and the load-reserve before it are one rmw with the load-reserve's times;
  with other requests between them they are a pair, for those may come between. Any other load-reserve is a load, any
  other store-conditional nothing.
- What was never answered, because the run was cut off, took place as far as somebody saw it: a store whose value is
  read is kept, as is what a swap or a store-conditional wrote; anything else is left out, loads with a note. So is the
  end of what was answered in an earlier cycle than it was asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from gradual.adapters._text import shown, stem

from gradual.history import EXCLUSIVE, NO_TICK, Builder, History, InputError, Options
from gradual.history.builder import More

SUMMARY = "rocket-chip TraceGen log (groundtest): requests and responses"
EXTENSIONS = ()
EXAMPLE = """\
0: store-req 5 0x0000000008 #0 @64
1: load-req 0x0000000008 #0 @70
0: resp 0 #0 @80
1: resp 5 #0 @96
1: fence-req @97
1: fence-resp @99
1: load-reserve-req 0x0000000008 #1 @100
1: resp 5 #1 @110
1: store-cond-req 7 0x0000000008 #2 @111
1: resp 0 #2 @120
FINISHED 2
"""

_LINE = re.compile(rb"\s*(\d+)\s*:\s*((?:load|load-reserve|store|store-cond|swap|fence)-req|fence-resp|resp)\b(.*)",
                   re.DOTALL)
_HEAD = re.compile(_LINE.pattern.replace(rb"(.*)", rb" *[0-9@]").replace(rb"\s*", rb"^ *", 1), re.MULTILINE)
_TIME = rb"\s*@\s*(\d+)\s*"
_TAG = rb"\s*#\s*(\d+)" + _TIME
_ADDRESS = rb"\s*(?:0x)?([0-9a-fA-F]+)"
_VALUE = rb"\s*(\d+)"
_FORMS = {
    b"load-req": ("ADDRESS #TAG @CYCLE", re.compile(_ADDRESS + _TAG)),
    b"store-req": ("VALUE ADDRESS #TAG @CYCLE", re.compile(_VALUE + rb"\s" + _ADDRESS + _TAG)),
    b"resp": ("VALUE #TAG @CYCLE", re.compile(_VALUE + _TAG)),
    b"fence-req": ("@CYCLE", re.compile(_TIME)),
}
_FORMS |= {b"load-reserve-req": _FORMS[b"load-req"], b"store-cond-req": _FORMS[b"store-req"],
           b"swap-req": _FORMS[b"store-req"], b"fence-resp": _FORMS[b"fence-req"]}


LOADS = (b"load", b"load-reserve")
ENDED = (*LOADS, b"fence")
"""What ends with its response."""


def recognise(head: bytes) -> bool:
    return bool(_HEAD.search(head))


def read(stream: BinaryIO, file: str, options: Options) -> Iterator[History | InputError]:
    builder = Builder(stem(file), file, options)
    try:
        run = _Run(builder)
        for number, line in enumerate(stream, 1):
            run.add(line, number)
        run.tell()
        yield builder.build()
    except InputError as error:
        yield error


@dataclass
class _Request:
    """What a thread asked for, and the answer."""

    thread: str
    does: bytes
    """The request without its ending: load, load-reserve, store, store-cond, swap, fence."""
    line: int
    begin: int
    address: int = 0
    value: int = 0
    """Of what writes."""
    answer: int | None = None
    end: int = NO_TICK
    reserved: _Request | None = None
    """Of a store-conditional: its load-reserve."""
    follows: bool = False
    """Whether that stands right before it in the thread."""
    store: _Request | None = None
    """Of a load-reserve: the store-conditional that succeeded."""
    number: int = 0
    """Its place among the operations of its thread, from 1; 0 while it is none."""

    @property
    def times(self) -> More:
        ends = self.does in ENDED and self.end >= self.begin
        return {"begin": self.begin, "end": self.end} if ends else {"begin": self.begin}


class _Run:
    """The requests of a run, in the order of the log."""

    def __init__(self, builder: Builder) -> None:
        self._builder = builder
        self._requests: list[_Request] = []
        self._tagged: dict[tuple[str, int], _Request] = {}
        """The last request of each thread and tag; that of a fence has the tag -1."""
        self._last: dict[str, _Request] = {}
        self._reserved: dict[str, _Request | None] = {}

    def add(self, line: bytes, number: int) -> None:
        """A line of the log."""
        found = _LINE.match(line)
        if found is None:
            return
        thread, verb, rest = str(int(found[1])), found[2], found[3]
        words, form = _FORMS[verb]
        fields = form.fullmatch(rest)
        if fields is None and not line.endswith(b"\n"):
            return  # the run was cut off in the middle of it
        if fields is None:
            raise self._builder.error(f"expected {verb.decode()} {words}, found "
                                      f"{shown(rest.decode(errors='replace').strip())}", number)
        if verb.endswith(b"-req"):
            self._ask(_request(thread, verb.removesuffix(b"-req"), number, fields.groups()))
        else:
            self._answer(thread, verb, number, fields.groups())

    def _ask(self, tagged: tuple[_Request, int]) -> None:
        request, tag = tagged
        self._requests.append(request)
        self._tagged[request.thread, tag] = request
        if request.does == b"store-cond":
            request.reserved = self._reserved.pop(request.thread, None)
            request.follows = self._last.get(request.thread) is request.reserved
        elif request.does == b"load-reserve":
            self._reserved[request.thread] = request
        self._last[request.thread] = request

    def _answer(self, thread: str, verb: bytes, number: int, fields: tuple[bytes, ...]) -> None:
        fence = verb == b"fence-resp"
        value, tag, end = (0, -1, int(fields[0])) if fence else (int(field) for field in fields)
        request = self._tagged.get((thread, tag))
        if request is None or request.answer is not None:
            what = "fence" if fence else f"request with tag {tag}"
            raise self._builder.error(f"thread {thread} has no open {what} that this could answer", number)
        request.answer, request.end = value, end

    def tell(self) -> None:
        """Hand what took place to the history."""
        seen = {(request.address, request.answer) for request in self._requests
                if request.does in (*LOADS, b"swap")}
        taken = [request for request in self._requests if _took_place(request, seen)]
        self._note("{} without a response {} left out (the first: line {})",
                   [one for one in self._requests if one.answer is None and one.does in LOADS])
        self._note("{} with a response of an earlier cycle {} without an end (the first: line {})",
                   [one for one in taken if one.does in ENDED and NO_TICK != one.end < one.begin])
        for request in taken:
            if request.reserved is not None and request.reserved.answer is not None:
                request.reserved.store = request
        numbers: dict[str, int] = {}
        for request in taken:
            if request.does != b"store-cond" or not _is_told(request):
                self._tell(request)
                request.number = numbers[request.thread] = numbers.get(request.thread, 0) + 1

    def _note(self, words: str, odd: list[_Request]) -> None:
        if odd:
            number, verb = ("1 request", "is") if len(odd) == 1 else (f"{len(odd)} requests", "are")
            self._builder.note(words.format(number, verb, odd[0].line))

    def _tell(self, request: _Request) -> None:
        builder, answer, store = self._builder, request.answer, request.store
        line, more, where = request.line, request.times, (request.thread, f"{request.address:#x}")
        if request.does == b"store-cond":
            more["marks"] = EXCLUSIVE
            if request.reserved is not None and request.reserved.number:
                more["pair"] = request.reserved.number
            builder.write(*where, request.value, line=line, **more)
        elif request.does == b"fence":
            builder.fence(request.thread, line=line, **more)
        elif request.does == b"store" or answer is None:
            builder.write(*where, request.value, line=line, **more)
        elif request.does == b"swap":
            builder.rmw(*where, answer, request.value, line=line, **more)
        elif store is not None and _is_told(store):
            builder.rmw(*where, answer, store.value, line=line, **more)
        else:
            builder.read(*where, answer, line=line, **more)


def _took_place(request: _Request, seen: set[tuple[int, int | None]]) -> bool:
    """Whether it was answered (a store-conditional: by success) or, if it writes, its value was seen."""
    if request.answer is not None:
        return request.does != b"store-cond" or request.answer == 0
    return request.does in (b"store", b"store-cond", b"swap") and (request.address, request.value) in seen


def _is_told(store: _Request) -> bool:
    """Whether a store-conditional that succeeded is one operation with its load-reserve."""
    return store.follows and store.reserved is not None and store.reserved.store is store


def _request(thread: str, does: bytes, line: int, fields: tuple[bytes, ...]) -> tuple[_Request, int]:
    """A request and its tag."""
    *before, time = fields
    if does == b"fence":
        return _Request(thread, does, line, int(time)), -1
    *value, address, tag = before
    return _Request(thread, does, line, int(time), int(address, 16), int(value[0]) if value else 0), int(tag)
