"""The batches behind a single adapter."""

from touchstone.judges.adapters import Adapter
from touchstone.judges.batches.base import ProviderBatches
from touchstone.judges.registry import Provider


def batches_of(provider: Provider, adapter: Adapter) -> ProviderBatches | None:
    """The batch API of a provider that is reached by this adapter; None where it has none, or none is known."""
    if provider.batch_factor is None:
        return None
    match provider.kind:
        case "openai":
            from touchstone.judges.batches.openai import OpenAIBatches
            from touchstone.judges.openai import OpenAIAdapter

            return OpenAIBatches(adapter) if isinstance(adapter, OpenAIAdapter) else None
        case "anthropic":
            from touchstone.judges.anthropic import AnthropicAdapter
            from touchstone.judges.batches.anthropic import AnthropicBatches

            return AnthropicBatches(adapter) if isinstance(adapter, AnthropicAdapter) else None
        case "gemini":
            from touchstone.judges.batches.gemini import GeminiBatches
            from touchstone.judges.gemini import GeminiAdapter

            return GeminiBatches(adapter) if isinstance(adapter, GeminiAdapter) else None
        case "compatible":
            return None
