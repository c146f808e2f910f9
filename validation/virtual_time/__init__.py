"""Linux on virtual time as a reference: its TCP controls beside ours, and examples."""
