"""Quizzes of a deployment: what they are made from, and the steps that make and check them."""
