"""What people decided about answers: rows in marks.db, which are added and never changed."""
