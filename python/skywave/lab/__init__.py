"""The lab page: watch scenarios and sockets while they run.

Requires the extra ``skywave[lab]``. :mod:`skywave.lab.site` is what every page has.
:mod:`skywave.lab.server` makes the application of ``skywave lab``, of which a
:class:`~skywave.lab.session.Session` is one open page. A :class:`~skywave.lab.runs.Run` on it is a
:class:`~skywave.lab.simulated.SimulatedRun` or a :class:`~skywave.lab.lived.LivedRun`, which is on
the real clock. :mod:`skywave.lab.connections` makes the page of a socket.
:mod:`skywave.lab.messages` and :mod:`skywave.lab.frames` are what all pages receive. ``static`` has
the page as ``make lab`` builds it from the folder ``lab`` of the repository.
"""
