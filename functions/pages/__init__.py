"""The dashboard: pages that a person opens in a browser. The API's function makes them from counters and records."""
