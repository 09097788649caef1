"""Figures for papers, drawn by matplotlib from computed results (extra `report`)."""
