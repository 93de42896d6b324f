"""The dashboard: pages that a person opens in a browser, made by the API's function from counters and records."""
