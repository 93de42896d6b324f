"""What holds for every test run."""

import gc


def pytest_collection_finish() -> None:
    """Set what is loaded by now aside from garbage collection.

    A collection over thousands of tests takes longer than a check may, and falls into whichever one is at work.
    """
    gc.collect()
    gc.freeze()
