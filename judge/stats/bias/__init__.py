"""Ways in which a rater's ratings differ systematically from others': leniency, compression, halo, self-preference."""
