"""`make archive`: one file from which a room without internet installs the course.

In it: the student edition, the wheels of all that `make lab` installs, and the static site where it has been built.
The Makefile takes wheels from `wheels/` where that folder is, and then asks no index. Wheels are for one kind of
computer and one version of Python, those of the machine that makes the archive: make it on one like the room's.
"""
