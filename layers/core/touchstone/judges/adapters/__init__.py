"""What the adapters share: schemas as providers accept them, connections, and the reading of replies and failures."""
