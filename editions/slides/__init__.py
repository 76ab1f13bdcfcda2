"""Slides of each lesson's core: one file a lesson, with speaker notes, without a server or a network."""
