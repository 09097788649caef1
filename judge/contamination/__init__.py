"""Whether a model has seen the stories it judges: scores of texts, how good they are, and what follows for validity."""
