"""Commands that measure how well judges agree with human ratings."""
