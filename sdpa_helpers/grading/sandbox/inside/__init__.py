"""The part of the sandbox that runs inside it: copied there, so it imports the standard library alone.

`linux` wraps the system calls, `kernel` is the Jupyter kernel and its limits, `zygote` the fork server,
`alone` a single kernel under bubblewrap, `fenced` a single kernel under Landlock, `outer` makes root's
files reachable for the unprivileged user that bubblewrap runs as.
"""
