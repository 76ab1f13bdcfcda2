"""The instructor's kit, docs/instructors/: plans with computed minutes, and a page for each lesson with a kit.md."""
