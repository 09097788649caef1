"""`judge check`: the roles of columns in a table with ratings by a judge and by people, and what data are missing."""
