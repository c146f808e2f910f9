"""Linux on virtual time as a reference: its controls, CCIDs and queues, and examples."""
