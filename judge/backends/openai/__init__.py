"""Back-end for any OpenAI-compatible server, over aiohttp."""
