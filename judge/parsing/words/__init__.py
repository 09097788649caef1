"""The words and phrases in which judges speak of ratings."""
