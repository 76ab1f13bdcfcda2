"""Pages about a class: feedback, the class report, answers that are alike."""
