"""Pages, figures and tables of everything that writes a report."""
