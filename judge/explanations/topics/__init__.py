"""Topics of the reasons that explanations give: what they say, with which ratings, and where judge and people part."""
