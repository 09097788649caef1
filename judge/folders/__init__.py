"""Where files lie on this machine: the user's home, caches and configuration, and what ships with the program."""
