"""Quizzes and cards in the forms that other tools read: Moodle's GIFT and XML, QTI, Anki's packages."""
