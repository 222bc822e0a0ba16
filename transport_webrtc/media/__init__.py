"""Carriers: what takes frames of speech to a listener. The audio track is RTP; thin, wire in and wire out."""
