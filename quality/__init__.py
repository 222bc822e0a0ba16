"""Judges what was rendered, sent and heard, and keeps the lab in which networks are made bad on purpose."""
