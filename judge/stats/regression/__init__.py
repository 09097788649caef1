"""Models that turn scores into ratings: ridge, isotonic, proportional odds, stacking, calibration."""
