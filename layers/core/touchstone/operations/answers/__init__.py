"""Answers of a deployment: their requests, their steps, their deep evaluations and what is tried again."""
