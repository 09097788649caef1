"""The parser `ours`: a rating and an explanation from an answer's text, or the status that says why there is none."""
