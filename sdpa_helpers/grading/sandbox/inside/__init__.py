"""The part of the sandbox that runs inside it: copied there, so nothing else of the package is imported.

`linux` wraps the system calls, `notebook` is the Jupyter kernel, `wire` its messages, `kernel` confines it, `zygote`
is the fork server,
`alone` a single kernel under bubblewrap, `fenced` a single kernel under Landlock, `outer` makes root's
files reachable for the unprivileged user that bubblewrap runs as.
"""
