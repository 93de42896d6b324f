"""Quizzes of a deployment: their curricula and learners, and the steps that make and check quizzes."""
