"""Commands about the explanations in judges' answers, and about audits of them by human annotators."""
