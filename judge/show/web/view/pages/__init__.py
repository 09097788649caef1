"""Pages of `judge view` by content: runs, answers, analyses, maps. Each module defines its addresses."""
