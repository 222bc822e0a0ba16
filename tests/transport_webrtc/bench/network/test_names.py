"""Names of senders, and what is refused."""

import pytest

from transport_webrtc.bench.network.senders.names import DEFAULT, parse_sender


def test_the_default_senders_are_known_and_only_nack_is_pinned() -> None:
    senders = [parse_sender(text) for text in DEFAULT.split(",")]
    assert [sender.text for sender in senders] == DEFAULT.split(",")
    assert [sender.delay_ms for sender in senders] == [None, None, None, None, 250]


def test_options_and_a_number_that_pins() -> None:
    sender = parse_sender("browser:nack:red:120")
    assert (sender.kind, sender.options, sender.delay_ms) == ("browser", ("nack", "red"), 120)
    assert parse_sender("legato:audio:150").delay_ms == parse_sender("legato:150").delay_ms == 150


def test_a_delay_for_all_is_not_legatos_and_does_not_overrule_a_number() -> None:
    assert parse_sender("stock", delay_ms=200).delay_ms == 200
    assert parse_sender("browser:nack", delay_ms=200).delay_ms == 200
    assert parse_sender("browser:80", delay_ms=200).delay_ms == 80
    assert parse_sender("legato:audio", delay_ms=200).delay_ms is None
    assert parse_sender("legato").options == ("audio",)
    assert parse_sender("legato:data").options == ("data",)


@pytest.mark.parametrize("text", ["zoom", "stock:nack", "browser:fec", "legato:video", ""])
def test_what_is_not_there_is_refused_with_a_sentence(text: str) -> None:
    with pytest.raises(ValueError, match=r"\.$"):
        parse_sender(text)
