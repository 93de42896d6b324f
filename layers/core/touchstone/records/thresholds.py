"""How sure each of a tenant's judges must be, computed from people's labels: one item, read by each verification."""

import uuid
from collections.abc import Callable

from pydantic import TypeAdapter

from touchstone.aws import ConditionFailedError, jitter, store_faults
from touchstone.errors import StoreError
from touchstone.judges.sureness import NO_THRESHOLDS, JudgeThresholds, SureFrom
from touchstone.records.keys import Key, of_tenant
from touchstone.records.table import OfTable, read
from touchstone.strict import Strict

_TRIES = 12
"""How often a write is tried, as for labels: few people label at once."""


class KeptThreshold(Strict):
    """A judge, and how sure it must be to decide."""

    model: str
    prompt_version: str | None
    sure_from: SureFrom


class Thresholds(OfTable):
    """The thresholds of all tenants' judges. Every method raises `StoreError` if the store fails."""

    def read(self, tenant: str, *, wanted: float) -> JudgeThresholds | None:
        """How sure each judge must be, by one read; empty if the labels say nothing about any judge.

        None if the stored thresholds follow from another agreement than the one that is `wanted` now: they must be
        counted again.
        """
        item = read(self._table, _key(tenant), "the thresholds")
        if item is None:
            return NO_THRESHOLDS
        kept = TypeAdapter(list[KeptThreshold]).validate_json(str(item["judges"]))
        # An earlier release stored the agreement only with each judge, so it stored none if there was no judge.
        of_all = {float(str(item["wanted"]))} if "wanted" in item else {one.sure_from.wanted for one in kept}
        return None if of_all != {wanted} else {(one.model, one.prompt_version): one.sure_from for one in kept}

    def keep(self, tenant: str, counted: Callable[[], JudgeThresholds], *, wanted: float) -> None:
        """Store the thresholds that `counted` returns, unless they are stored already.

        An older count never overwrites a newer one. `wanted` is the agreement that the thresholds follow from. It is
        stored also if the labels say nothing about any judge.

        The stored item is read before the count. A count that misses another person's new label was made before that
        label's own thresholds were stored. So its write meets another revision, and the count is made again.
        """
        for attempt in range(_TRIES):
            item = read(self._table, _key(tenant), "the thresholds")
            found = [
                KeptThreshold(model=model, prompt_version=version, sure_from=sure_from)
                for (model, version), sure_from in sorted(counted().items(), key=str)
            ]
            text = TypeAdapter(list[KeptThreshold]).dump_json(found).decode()
            if item is not None and (text, repr(wanted)) == (item["judges"], item.get("wanted")):
                return
            condition: dict[str, object] = {"ConditionExpression": "attribute_not_exists(pk)"}
            if item is not None:
                condition = {
                    "ConditionExpression": "revision = :before",
                    "ExpressionAttributeValues": {":before": item["revision"]},
                }
            try:
                with store_faults("keep the thresholds"):
                    self._table.put_item(
                        Item={**_key(tenant), "judges": text, "wanted": repr(wanted), "revision": str(uuid.uuid4())},
                        **condition,  # type: ignore[arg-type] # as boto3 takes it
                    )
            except ConditionFailedError:
                self._pause(jitter(attempt))
            else:
                return
        raise StoreError("The thresholds of the judges were changed by others each time; it is safe to repeat.")


def _key(tenant: str) -> Key:
    return {"pk": of_tenant(tenant, "THRESHOLDS"), "sk": "quick_verify"}
