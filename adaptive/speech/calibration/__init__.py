"""What the tiers of a voice cost on this machine and how they sound: `figures` says what is known and which tiers are
worth having, `measure` finds it out, `files` keeps it for the next start. No model library is imported here."""
