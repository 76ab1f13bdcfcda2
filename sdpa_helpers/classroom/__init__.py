"""A class: collect, grade a folder, write the gradebook and pages, review words, export, release.

Everything that learners must not get is in this folder; the student edition is the package without it.
"""
