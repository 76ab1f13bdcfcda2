"""The part of the sandbox that runs inside it: copied there, so nothing else of the package is imported.

`linux` wraps the system calls, `kernel` is the kernel, `messages` what it is asked and answers, `confine` confines it,
`no_programs` says why it starts none; `fork_server` is the warm one from which kernels are forked, `alone` a single
kernel under bubblewrap, `fenced` a single kernel under Landlock, and `ordinary` a fork server without a sandbox.
"""
