"""Commands about explanations and their audit."""
