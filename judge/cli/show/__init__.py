"""Commands that present results as figures, reports and web pages."""
