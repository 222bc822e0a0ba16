"""Text in, samples out at a chosen precision: voices, the stream that joins their chunks, and the workers they run in.

`registry` finds voices by name; `voice` says what a voice is and `renderer` what the media process sees of them.
"""
