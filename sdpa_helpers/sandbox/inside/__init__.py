"""The part of the sandbox that runs inside it: copied there, so nothing else of the package is imported.

`linux` wraps the system calls, `jupyter_kernel` is the Jupyter kernel, `wire` its messages, `confine` confines it,
`fork_server` is the warm one from which kernels are forked, `alone` a single kernel under bubblewrap, `fenced` a
single kernel under Landlock.
"""
