"""Carries speech to listeners over WebRTC: the only package that knows aiortc, FastAPI and the network."""
