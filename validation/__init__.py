"""External references: another kernel's packets, ns-2's traces, tshark's judgements."""
