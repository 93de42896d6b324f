import contextlib
import threading
import time

import pytest

from touchstone.limits import Allowance

# The time limit ends a thread by an exception, which may land in a callback of the interpreter, and is told there.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


def test_returns_what_the_function_returns() -> None:
    assert Allowance(1.0).spend(divmod, 7, 2) == (3, 1)


def test_raises_what_the_function_raises() -> None:
    with pytest.raises(ZeroDivisionError):
        Allowance(1.0).spend(divmod, 7, 0)


def test_work_that_never_ends_is_stopped_and_leaves_no_thread() -> None:
    def spin() -> None:
        while True:
            pass

    started = time.monotonic()
    assert Allowance(0.05).spend(spin) is None
    assert time.monotonic() - started < 10
    assert not [thread for thread in threading.enumerate() if thread.name == "touchstone-within"]


def test_work_that_swallows_exceptions_does_not_hold_the_caller() -> None:
    stop = threading.Event()

    def stubborn() -> None:
        while not stop.is_set():
            with contextlib.suppress(BaseException):
                sum(range(100))

    started = time.monotonic()
    assert Allowance(0.05).spend(stubborn) is None
    assert time.monotonic() - started < 10
    stop.set()


def test_works_off_the_main_thread() -> None:
    results: list[int | None] = []
    thread = threading.Thread(target=lambda: results.append(Allowance(1.0).spend(int, "7")))
    thread.start()
    thread.join()
    assert results == [7]


def test_several_pieces_of_work_share_one_allowance() -> None:
    def spin() -> None:
        while True:
            pass

    allowance = Allowance(0.05)
    assert allowance.spend(int, "7") == 7
    assert allowance.spend(spin) is None
    assert allowance.spend(int, "7") is None


def test_a_worker_that_sleeps_is_bounded_by_the_clock_on_the_wall() -> None:
    waiting = threading.Event()
    assert Allowance(0.01).spend(waiting.wait, 60) is None
    waiting.set()


def test_a_worker_that_never_got_its_turn_does_not_begin_late(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[bool] = []
    held: list[threading.Thread] = []

    def hold(thread: threading.Thread) -> None:
        held.append(thread)

    monkeypatch.setattr(threading.Thread, "start", hold)
    monkeypatch.setattr(threading.Thread, "is_alive", lambda _: True)
    monkeypatch.setattr(threading.Thread, "join", lambda *_: time.sleep(0.001))
    assert Allowance(0.001).spend(begun.append, True) is None
    held[0].run()
    assert not begun
