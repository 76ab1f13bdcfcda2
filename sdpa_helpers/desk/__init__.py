"""The learner's desk: working copies in work/, resetting an exercise, JupyterLab with the course's own settings.

`copy_text` makes a copy's text, `laying` lays copies without touching what a learner wrote, `putting_aside` gives an
exercise its stub back, `course` says what the learner has done so far, `server` tells it to the front end (front/),
`launch` starts JupyterLab, `running` knows what it has open, `trusting` what it trusts.
"""
