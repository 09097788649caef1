"""Figures for papers, drawn by matplotlib from computed results (needs the optional dependencies `report`)."""
