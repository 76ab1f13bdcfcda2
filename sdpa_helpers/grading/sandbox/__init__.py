"""Run a submission's kernel where it can harm nothing.

`levels` starts kernels, best first: a warm fork server in a bubblewrap view, one bubblewrap per kernel,
Landlock with a filter of system calls. `probe` attacks each level to find out which holds on this machine.
`box` is a running kernel as the trusted side sees it; `view` says which files it gets to see, `calls` which
system calls it may make; `inside` is what runs on the other side.
"""
