"""Other words for the sentences of stories: asked of a model, or out of a file of back-translations."""
