"""Generates files of this repository from the core's schema: ``make schema``."""

from tools import document, json_schema, python_classes, socket_config, socket_stats, stub

GENERATED = (json_schema, python_classes, socket_config, socket_stats, stub, document)
"""Modules that each have the ``PATH`` of a file and the ``text`` that it must hold."""
