"""Commands that analyse how a judge's repeated ratings of the same story agree."""
