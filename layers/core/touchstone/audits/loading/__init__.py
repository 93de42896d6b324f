"""Definitions of cases as benchmarks keep them: YAML, JSON and JSON Lines, one case or many in a file.

```python
found = load_cases([Path("benchmarks")])
for fault in found.faults:
    print(fault)        # benchmarks/a.yaml:12:5: benchmarks[3].options: …
```

The content of a file raises nothing: all faults of all files are returned together, each with its place.
"""

from touchstone.audits.loading.files import Fault, Loaded, LoadedCase, load_cases, load_text

__all__ = ["Fault", "Loaded", "LoadedCase", "load_cases", "load_text"]
