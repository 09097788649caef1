"""The parser `ours`: from an answer's text to a rating with an explanation, or to the status that says why not."""
