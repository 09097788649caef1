"""Pages of `judge view`, by what they show: runs, answers, analyses, maps. Each gives the paths that it answers."""
