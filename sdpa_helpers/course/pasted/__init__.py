"""A function from elsewhere: tried in the exercise that it answers, and its mistake named."""
