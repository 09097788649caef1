"""Back-end for Google's generateContent API."""
