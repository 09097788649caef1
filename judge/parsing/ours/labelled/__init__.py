"""Labels (Yes/No, grades, other words) in the place of numbers. Never takes another word for a label."""
