"""Locations of files on this machine: the user's home, caches, configuration, and files of the program."""
