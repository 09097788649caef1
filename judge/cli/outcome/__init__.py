"""Commands that say what runs come to, in one screen or one certificate."""
