"""Advice on which congestion control to use where, and the run of the matrix it was written from.

``python -m skywave_papers.matrix`` runs it again.
"""
