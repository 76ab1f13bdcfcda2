"""What lies stored in a lesson, as parts that a slide or a sheet of paper can place: texts, formulas, outputs."""
