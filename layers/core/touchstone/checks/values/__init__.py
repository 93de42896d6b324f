"""What an answer means: a bare text as a value that is compared exactly, or nothing where it was not read whole."""
