"""Figures as inline SVG; the only room of the report that draws."""
