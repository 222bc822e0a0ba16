"""One file a bench: `first_audio` (how soon speech begins) and `media` (what sending it costs)."""
