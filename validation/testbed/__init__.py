"""The five papers' testbed experiments: published, simulated and real-time values.

``make testbed`` runs ``python -m validation.testbed``. Each experiment is a scenario of its paper's
package, run on both clocks (:mod:`skywave.realtime`). Several run at a time, each in a process of
its own: a network of a few megabits takes a small part of a processor.
"""
