"""Pages of `judge view`, in modules by content: runs, answers, analyses, maps. Each module defines the addresses of its
pages.
"""
