"""Parts of a listener's speaker: one utterance, the queue of them, and what is told when it is heard."""
