"""Programs behind an emulated link, in real time (Linux only).

``python -m skywave emulate`` is the way in. It starts a process in namespaces of its own
(:mod:`skywave.realtime.link.launch`), which runs the link and the programs
(:mod:`skywave.realtime.link.inside`) and says how accurate its timing was
(:mod:`skywave.realtime.accuracy`).
"""
