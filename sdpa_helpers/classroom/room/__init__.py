"""`sdpa room`: a board for the projector and a page for the instructor, from the lines of those who joined."""
