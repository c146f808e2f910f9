"""Linux on virtual time as a reference: its TCP controls and CCIDs beside ours, and examples."""
