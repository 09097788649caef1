"""Statistics of paired comparisons: strengths of systems from preferences between stories, and transitivity."""
