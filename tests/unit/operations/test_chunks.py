"""Cutting a file loses no byte and no line, whatever is in it."""

from hypothesis import given
from hypothesis import strategies as st

from touchstone.operations.batches.chunks import CHUNK_BYTES, CHUNK_LINES, chunks_of, lines_of

FILES = st.lists(st.binary(max_size=40), max_size=120).map(b"\n".join)


@given(FILES)
def test_the_chunks_together_are_the_file_and_every_line_has_its_number(data: bytes) -> None:
    chunks = list(chunks_of(data, tenant="acme", batch_id="b", key="acme/f.jsonl", version="v"))
    assert b"".join(data[chunk.start : chunk.end] for chunk in chunks) == data
    assert all(chunk.lines <= CHUNK_LINES for chunk in chunks)
    numbered = {
        chunk.first_line + place: line
        for chunk in chunks
        for place, line in enumerate(lines_of(data[chunk.start : chunk.end]))
    }
    expected = {number: line for number, line in enumerate(data.split(b"\n"), start=1) if line.strip()}
    assert {number: line for number, line in numbered.items() if line.strip()} == expected
    assert [number for chunk in chunks for number in chunk.numbers] == sorted(expected)


def test_a_chunk_of_long_lines_stays_small_and_a_longer_line_stands_alone() -> None:
    rows = [b"x" * (CHUNK_BYTES // 2), b"y" * (CHUNK_BYTES // 3), b"z" * (2 * CHUNK_BYTES), b"w"]
    chunks = list(chunks_of(b"\n".join(rows), tenant="acme", batch_id="b", key="k", version="v"))
    assert [chunk.lines for chunk in chunks] == [2, 1, 1]
