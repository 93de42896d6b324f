"""Quizzes and cards in the forms that other tools read: Moodle's GIFT and XML, QTI 2.1, Anki's packages."""
