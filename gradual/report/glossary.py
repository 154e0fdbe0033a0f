"""The words of a report, plainly."""

from __future__ import annotations

from gradual.telling.markup import Html, element, joined, section

DECIDED = {
    "CC": "Causal consistency: no load returns a value that the thread, directly or through what it has read, already "
          "knows to be overwritten. The weakest criterion: whoever fails it is far from SC.",
    "CCv": "Causal convergence: causal consistency, and the threads can agree on one order of the stores to each "
           "location.",
    "CM": "Causal memory: causal consistency, and each thread on its own can put what it saw in one order.",
    "CCM": "Convergent causal memory: stronger than both together, and the strongest criterion below SC that takes no "
           "search.",
    "wCCM": "The counterpart of CCM for TSO: what store buffers may reorder is left out of it.",
    "wCCM-PSO": "The same built for PSO, where stores to different locations may overtake each other too.",
    "cycle": "Operations that would each have to come before the next, and the last before the first. Program order "
             "and the values that were read are enough to see it; the criteria above were not asked, or all hold.",
    "search": "No single cycle tells. Some stores can be ordered either way, both ways were tried, and each ends in a "
              "cycle.",
    "thin-air": "A load returned a value that nobody ever stored there.",
    "own-future": "A load returned a value that its own thread stores only later.",
    "store-order": "The memory model holds, the store order that the trace tells does not.",
    "real-time": "The memory model holds, but not in real time: with accesses between their begin and their end.",
    "store-order+real-time": "The memory model holds, but not with the trace's store order in real time.",
    "final": "The memory was left with a value that cannot be the last one stored there.",
    "schedule": "Consistent: an order of all operations was found that explains every value.",
    "enumerate": "Decided by trying the store orders that the criteria left open, one by one (--completion).",
    "sat": "Decided by a SAT solver on the store orders that the criteria left open (--completion).",
    "direct": "Decided by a SAT solver on the plain question (--completion).",
    "general": "Decided by a SAT solver on the text of a model that does not fit the engine.",
}
"""What may have decided, by the names in the dataset."""
WORDS = {
    "violation": "The model allows no execution in which these values are read.",
    "consistent": "There is one.",
    "unknown": "Not decided within the time or the memory there was.",
    "error": "Not checked: the trace could not be read, or did not fit into memory.",
    "po": "Program order: later in the same thread.",
    "wr": "Reads-from: the load returns the value of the store.",
    "ww": "Store order: of two stores to one location, the later one.",
    "rw": "From-reads: from a load to a store that overwrites the value it returned.",
    "rt": "Real time: began after the other had ended.",
    "unordered write pairs": "Pairs of stores to one location whose order nothing forces: the fewer, the less there is "
                             "to search.",
}


def anchor(criterion: str) -> str | None:
    """Where it is explained; None for what is no word of ours."""
    return f"word-{criterion.lower()}" if criterion in DECIDED else None


def linked(criterion: str) -> str:
    """The name, leading to what it means."""
    name = anchor(criterion)
    return element("a", criterion, href=f"#{name}", class_="word") if name else criterion


def glossary() -> Html:
    def terms(words: dict[str, str]) -> Html:
        lines = [joined([element("dt", word, id=anchor(word)), element("dd", text)], "")
                 for word, text in words.items()]
        return element("dl", joined(lines), class_="glossary")

    return section("glossary", "Words", element("h3", "Decided by"), terms(DECIDED), element("h3", "Others"),
                   terms(WORDS))
