"""Any OpenAI-compatible server over aiohttp."""
