"""How a listener and the server agree on a connection: WHEP over HTTP, and what session descriptions say."""
