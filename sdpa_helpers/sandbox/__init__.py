"""Run a kernel where it can harm nothing. Knows no grading, no exercise and no lesson.

`levels` starts kernels, best first: a warm fork server in a bubblewrap view, one bubblewrap per kernel,
Landlock with a filter of system calls; `ordinary` without any of that, `fork_servers` what two of them share.
`choose_level` attacks each level to find out which holds on this machine. `kernel_process` is a kernel as the trusted
side sees it (`running`), `incoming` counts and reads what it sends, `bounded_kernel` talks to it with a budget for
everything (`limits`); `visible_files` says which files it gets to see (a `KernelPackage` among them, and of what is
`installed` a few distributions with what they need), `seccomp` which system calls it may make; `inside` is what runs
on the other side, and `as_user` starts that as an unprivileged user.
"""
