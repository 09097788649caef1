"""What every analysis begins with: candidates, the control, people's ratings, matched criteria."""
