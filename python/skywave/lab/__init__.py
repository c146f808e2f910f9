"""The laboratory as a page: scenarios and sockets that one watches while they run.

Requires the extra ``skywave[lab]``. :mod:`skywave.lab.site` is what every page has.
:mod:`skywave.lab.server` makes the application of ``skywave lab``, of which a
:class:`~skywave.lab.session.Session` is one open page; on it, a
:class:`~skywave.lab.watched.WatchedRun` is a simulation and a
:class:`~skywave.lab.lived.LivedRun` a run on the real clock. :mod:`skywave.lab.connections` makes
that of a socket. ``static`` has the page as ``make lab`` builds it from the folder ``lab`` of the
repository.
"""
