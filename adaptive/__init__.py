"""Decides and makes sound; knows nothing of any network.

``control`` turns reports into plans, ``speech`` text into samples, ``audio`` joins and resamples them, ``codec`` turns
them into bytes and ``utterance`` keeps the life of one text. Nothing here imports ``transport_webrtc`` or ``quality``.
"""
