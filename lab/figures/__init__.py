"""Figures of the lab, drawn from the plots of an analysis."""
