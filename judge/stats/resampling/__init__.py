"""Bootstrap, jackknife and permutation: resamples of stories and systems, and intervals made from them."""
