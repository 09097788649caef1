"""Analysis and generation of English: tokens, sentences, parts of speech, clauses, inflection."""
