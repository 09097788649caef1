"""From the definition of a run to its kept answers: plan, what is in force, execution and the run folder."""
