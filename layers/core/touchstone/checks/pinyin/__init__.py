"""Whether Hanyu Pinyin is written as it should be, and whether it says what the characters say."""

from touchstone.checks.pinyin.detection import find_pinyin_errors

__all__ = ["find_pinyin_errors"]
