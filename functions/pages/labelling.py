"""What a form says of a thing that was judged: its label, or that there is to be none."""

from collections.abc import Mapping

from functions.composition.labels import labelling
from functions.pages.visit import Visit


def keep_label(met: Visit, fields: Mapping[str, str], *, kind: str, record_id: str, item: str) -> None:
    """Label a thing as the form's `label` says, or take back what was said where it is empty.

    Raises as `Labelling.label` and `Labelling.remove` do.
    """
    found, label = labelling(met.tenant), fields.get("label", "")
    if label:
        found.label(kind=kind, record_id=record_id, item=item, label=label, by=met.token_id)
    else:
        found.remove(kind=kind, record_id=record_id, item=item)
