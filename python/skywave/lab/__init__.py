"""The laboratory as a page: scenarios that run while they are watched and changed.

Requires the extra ``skywave[lab]``. :mod:`skywave.lab.server` makes the application, a
:class:`~skywave.lab.session.Session` is one open page, and a
:class:`~skywave.lab.watched.WatchedRun` is a run on it. ``static`` has the page as ``make lab``
builds it from the folder ``lab`` of the repository.
"""
