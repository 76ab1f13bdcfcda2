"""Search over the whole site: what a reader may look for, each as a small document, and the index made of them."""
