"""picoquic as a reference: its DualPI2, and its congestion controls on its virtual clock."""
