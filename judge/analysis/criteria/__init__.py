"""Whether criteria measure different things, and how the scale is used."""
