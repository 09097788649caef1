"""`judge check`: one table of a judge's and people's ratings, roles of its columns, and gaps of its data."""
