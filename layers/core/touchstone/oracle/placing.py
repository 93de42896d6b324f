"""What a judge replies when it compares the entries of a contest, and the rules that the reply must obey."""

from collections.abc import Iterator, Mapping

from touchstone.judges.calls import JudgeReply
from touchstone.judges.fence import visible
from touchstone.oracle.bands import Band
from touchstone.oracle.entries import FinalistEntry
from touchstone.oracle.replies import faults_of_evidence, faults_of_score


class PlacedReply(JudgeReply):
    """What a judge says of one entry beside the others. The order of the fields is the order of the work."""

    label: str
    evidence: str
    comparison: str
    band: Band
    score: int


class HorizontalReply(JudgeReply):
    """What a judge says of all entries on one dimension."""

    entries: list[PlacedReply]


def faults_of_entries(reply: HorizontalReply, labelled: Mapping[str, FinalistEntry]) -> Iterator[str]:
    """Yield each fault of a judge's reply in one sentence; nothing if the reply obeys all rules."""
    if unknown := sum(one.label not in labelled for one in reply.entries):
        yield f"{unknown} of the labels belong to no entry; the entries are {', '.join(labelled)}."
    for faults in faulty_entries(reply, labelled).values():
        yield from faults


def faulty_entries(reply: HorizontalReply, labelled: Mapping[str, FinalistEntry]) -> dict[str, list[str]]:
    """The faults in what a judge said of each entry, by label. Entries without a fault are left out."""
    found = {label: list(_of_entry(reply, label, entry)) for label, entry in labelled.items()}
    return {label: faults for label, faults in found.items() if faults}


def _of_entry(reply: HorizontalReply, label: str, entry: FinalistEntry) -> Iterator[str]:
    replies = [one for one in reply.entries if one.label == label]
    if len(replies) != 1:
        yield f"Entry {label} is there {len(replies)} times; score every entry exactly once."
    which = f"entry {label}"
    for one in replies:
        yield from faults_of_score(one.band, one.score, which=which)
        yield from faults_of_evidence(one.evidence, (entry.material.text, entry.text), which=which)
        if not visible(one.comparison).strip():
            yield f"The comparison of {which} is blank."
