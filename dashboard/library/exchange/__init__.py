"""Boards in and out: board files, pulled folders, pushed runs, lists of boards."""
