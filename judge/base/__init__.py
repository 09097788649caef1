"""What every other room stands on: errors, records, files, words and tables on a screen."""
