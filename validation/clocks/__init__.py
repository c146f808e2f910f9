"""Three clocks compared: Linux's TCP beside ours, and examples.

``python -m validation.clocks`` runs them and stores ``kernel_tcp.csv`` and ``examples.csv``.
"""
