"""Client for any OpenAI-compatible server, over aiohttp."""
