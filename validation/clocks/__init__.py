"""Both clocks compared: Linux's TCP in real time beside ours, and examples on both.

``python -m validation.clocks`` runs them and stores ``kernel_tcp.csv`` and ``examples.csv``.
"""
