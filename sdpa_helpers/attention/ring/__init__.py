"""One long sequence over many processes: each holds a part, and the keys and values go round."""
