"""An experiment's conclusion for programs."""

import json

from touchstone.surfaces.experiments.conclusion import Conclusion
from touchstone.surfaces.experiments.report.sentences import headline, notes


def report_json(conclusion: Conclusion) -> str:
    """The conclusion as JSON, after its sentences (`headline`, `notes`)."""
    said = {"headline": headline(conclusion), "notes": notes(conclusion)}
    return json.dumps({**said, **conclusion.model_dump(mode="json")}, ensure_ascii=False, indent=2) + "\n"
