"""Grade one submission: read → assemble → run → judge → result → report.

`read` takes the answers out of what was handed in (`lift_words` those in words), which `read_file` has it do in a
`reading_box`; `assemble` lays them into the
pristine notebook, `run` executes it under nbval, `judge` turns what came out into verdicts, `result` is what passes
on, `report` puts it into words. `grade_one` brings the parts together.
"""
