"""Studies of a class that are planned before they are looked at: a test before and after, two wordings by lot."""
