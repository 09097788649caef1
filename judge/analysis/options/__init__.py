"""Options of the analyses, and the signature line that lists them under every table."""
