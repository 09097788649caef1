"""Which aspects of a story stand out, and how they are rated: a judge beside readers who chose what to comment on."""
