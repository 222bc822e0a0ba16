"""What comes back from a listener, made into reports: its feedback channel, its RTCP, transport-wide feedback."""
