"""What runs show on one screen: verdicts by documented rules, their numbers, what to do next."""
