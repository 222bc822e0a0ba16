"""Settings: safe by default, from the environment, wrong ones refused with a sentence."""

import pytest
from pydantic import ValidationError

from transport_webrtc.settings import IceServer, Settings, settings_sentence

EXPECTED = "eMsF4nhJy7wDOFGAclHzMS8wjLU="


def test_defaults_reach_nobody() -> None:
    settings = Settings()
    assert settings.loopback
    assert settings.ice_servers == ()
    assert settings.cors_origins == ()
    assert not settings.lab


def test_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEGATO_PORT", "9000")
    monkeypatch.setenv("LEGATO_VOICES", "tone, joe")
    monkeypatch.setenv("LEGATO_VOICE", "tone")
    monkeypatch.setenv("LEGATO_CORS_ORIGINS", '["https://a.example"]')
    monkeypatch.setenv("LEGATO_TOKEN", "hush")
    monkeypatch.setenv(
        "LEGATO_ICE_SERVERS", '[{"urls": "turn:t.example", "username": "u", "credential": "c"}, "stun:s.example"]'
    )
    settings = Settings()
    assert settings.port == 9000
    assert settings.voices == ("tone", "joe")
    assert settings.cors_origins == ("https://a.example",)
    assert [server.urls for server in settings.ice_servers] == ["turn:t.example", "stun:s.example"]
    assert settings.token is not None
    assert settings.token.get_secret_value() == "hush"
    assert "hush" not in repr(settings)


def test_a_secret_becomes_credentials_for_a_day() -> None:
    """As `printf %s 1000086400:legato | openssl dgst -sha1 -hmac north -binary | base64` has it."""
    server = IceServer.model_validate({"urls": "turn:[2001:db8::1]:3478?transport=udp", "secret": "north"})
    assert server.credentials(1_000_000_000.9) == ("1000086400:legato", EXPECTED)
    assert server.credentials(1_000_000_001.0)[1] != EXPECTED
    named = server.model_copy(update={"username": "car"})
    assert named.credentials(0.0)[0] == "86400:car"
    assert "north" not in repr(server)


def test_empty_token_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEGATO_TOKEN", "")
    assert Settings().token is None


def test_only_some_addresses_are_loopback() -> None:
    assert Settings(host="127.0.0.2").loopback
    assert Settings(host="::1").loopback
    assert Settings(host="localhost").loopback
    assert not Settings(host="0.0.0.0").loopback
    assert not Settings(host="192.0.2.1").loopback


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"voice": "nobody"}, "not among the voices"),
        ({"profile": "radio"}, "There is no profile"),
        ({"port": 70_000}, "65535"),
        ({"workers": 0}, "greater than or equal to 1"),
        ({"log_level": "loud"}, "log level"),
        ({"ice_servers": "http://x"}, "not a stun: or turn: URL"),
        ({"ice_servers": "stun:x y"}, "not a stun: or turn: URL"),
        ({"ice_servers": "stun:x?transport=tcp"}, "not a stun: or turn: URL"),
        ({"ice_servers": "turn:x"}, "a username and a credential, or a secret"),
        (
            {"ice_servers": '[{"urls": "turn:x", "username": "u", "credential": "c", "secret": "s"}]'},
            "a credential or a secret, not both",
        ),
    ],
)
def test_wrong_settings_are_refused(given: dict[str, object], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        Settings(**given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"workers": 0}, "--workers (or LEGATO_WORKERS) must be a whole number from 1 to 64, not 0."),
        ({"port": "many"}, '--port (or LEGATO_PORT) must be a port from 0 to 65535, not "many".'),
        ({"profile": "radio"}, "There is no profile 'radio'; there are voice_chat, narration, navigation."),
        (
            {"ice_servers": '[{"urls": "turn:x", "password": "hidden"}]'},
            "--ice-servers (or LEGATO_ICE_SERVERS) must be",
        ),
        ({"ice_servers": "[{"}, "A list in JSON was begun and cannot be read"),
    ],
)
def test_a_wrong_setting_is_a_sentence_that_shows_no_secret(given: dict[str, object], sentence: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Settings(**given)  # type: ignore[arg-type]
    said = settings_sentence(caught.value)
    assert said.startswith(sentence)
    assert said.endswith(".")
    assert "hidden" not in said


def test_a_voice_from_a_file_is_known_by_its_name_and_not_by_its_path() -> None:
    settings = Settings(voices=("piper:/srv/secret/amy.onnx#2", "heart"), voice="piper:/srv/secret/amy.onnx#2")
    assert (settings.voice_names, settings.first_voice) == (("amy-2", "heart"), "amy-2")
    assert Settings(voices=("piper:/srv/secret/amy.onnx",), voice="amy").first_voice == "amy"
