"""What an answer is worth: each case compared with its truth, and how the answer behaves."""
