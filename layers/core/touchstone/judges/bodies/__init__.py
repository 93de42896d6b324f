"""What questions and turns share of a provider's wire format."""
