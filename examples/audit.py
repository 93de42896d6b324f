"""Two questions of a benchmark audited: a model writes a script for every option, and what the scripts do decides.

uv run python examples/audit.py
"""

import asyncio
import tempfile
from pathlib import Path

from touchstone.audits.agent import open_solver
from touchstone.audits.bundles import Bundles, Target
from touchstone.audits.loading import load_text
from touchstone.audits.report import report_markdown
from touchstone.audits.sandbox.bubblewrap import open_sandbox
from touchstone.audits.whole import audit
from touchstone.judges import EnvironmentKeys, Judges, load_registry

QUESTIONS = """
- id: prerelease
  question: How do `Version("2.0rc1")` and `Version("2.0")` of `packaging` compare?
  options: [The release candidate is less., They are equal., The release candidate is greater.]
  answer: A
- id: legacy
  question: What takes a text such as `french-toast` for a version?
  options: ["`packaging.version.LegacyVersion`", "`packaging.specifiers.Specifier`, after `===`"]
  answer: A
"""


async def main(folder: Path) -> None:
    """Install the library, have the cases solved, and print the report."""
    loaded = load_text(QUESTIONS, name="questions.yaml")
    registry = load_registry()
    judges = Judges(registry, EnvironmentKeys(registry))
    model = open_solver(judges)
    bundle = Bundles(folder / "bundles").build(Target(requirement="packaging>=25"))
    report = await audit(loaded.cases, bundle, model=model, sandbox=open_sandbox(), folder=folder / "audit")
    await judges.aclose()
    for rating, cases in report.totals.items():
        print(f"{cases} {rating}")
    print(report_markdown(report))


with tempfile.TemporaryDirectory() as kept:
    asyncio.run(main(Path(kept)))
