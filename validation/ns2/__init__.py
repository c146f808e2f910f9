"""ns-2 as a reference: its traces, the scripts that make them, and runs drawn at random."""
