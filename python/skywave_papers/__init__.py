"""The five published experiments that the project reproduces, one package each.

Skywave finds them as it finds anybody's: by their entry points in the group ``skywave.papers``.
"""
