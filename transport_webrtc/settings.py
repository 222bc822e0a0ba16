"""What a server is told before it starts: from arguments, or from `LEGATO_…` in the environment."""

import base64
import hmac
import json
import re
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from adaptive.control.profiles import DEFAULT_PROFILE, PROFILES
from adaptive.speech.registry import voice_name

from .sentences import must_be

_HOST = r"([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?"
_ICE_URL = re.compile(rf"stuns?:{_HOST}|turns?:{_HOST}(\?transport=(udp|tcp))?")
"""RFC 7064, RFC 7065; a browser that is told of anything else does not connect at all."""


class IceServer(BaseModel):
    """A STUN or TURN server that peers are told of, as in WebRTC's RTCIceServer."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    urls: str
    """One URL, such as `stun:stun.example.org:3478` (RFC 7064, RFC 7065)."""
    username: str | None = None
    credential: SecretStr | None = None
    secret: SecretStr | None = None
    """Shared with a TURN server that makes its own credentials of it (coturn's `use-auth-secret`): whoever is told of
    the server then gets some that are good for `valid_s`, and `username` is only a name in them."""
    valid_s: int = Field(86_400, ge=60)

    def credentials(self, now: float) -> tuple[str | None, str | None]:
        """Username and password at `now`, Unix time in seconds. Made of a secret as in
        draft-uberti-behave-turn-rest-00 section 2.2."""
        if self.secret is None:
            return self.username, None if self.credential is None else self.credential.get_secret_value()
        username = f"{int(now) + self.valid_s}:{self.username or 'legato'}"
        digest = hmac.digest(self.secret.get_secret_value().encode(), username.encode(), "sha1")
        return username, base64.b64encode(digest).decode()

    @field_validator("urls")
    @classmethod
    def _known_scheme(cls, urls: str) -> str:
        if not _ICE_URL.fullmatch(urls):
            raise ValueError(f"{urls!r} is not a stun: or turn: URL such as turn:turn.example.org:3478?transport=tcp.")
        return urls

    @model_validator(mode="after")
    def _one_kind(self) -> "IceServer":
        if self.secret is not None and self.credential is not None:
            raise ValueError("A TURN server of --ice-servers has a credential or a secret, not both.")
        if self.urls.startswith("turn") and self.secret is None and None in (self.username, self.credential):
            raise ValueError(f"{self.urls} needs a username and a credential, or a secret, in JSON (see --help).")
        return self


def _listed(value: Any) -> Any:
    """`a, b` or a JSON list, as an environment variable has it."""
    if not isinstance(value, str):
        return value
    if value.lstrip().startswith(("[", "{")):
        try:
            parsed = json.loads(value)
        except json.JSONDecodeError as error:
            raise ValueError(f"A list in JSON was begun and cannot be read: {error}.") from error
        return parsed if isinstance(parsed, list) else [parsed]
    return [part.strip() for part in value.split(",") if part.strip()]


class Settings(BaseSettings):
    """All that may be set, with defaults that are safe on a laptop: loopback only, nothing asked of other machines."""

    model_config = SettingsConfigDict(env_prefix="LEGATO_", frozen=True, extra="ignore")

    host: str = "127.0.0.1"
    port: int = Field(8080, ge=0, le=65535, description="a port from 0 to 65535")
    """0 takes any free port."""
    token: SecretStr | None = None
    """Where set, every request below `/v1` and `/metrics` needs `Authorization: Bearer`."""
    tls: str | None = None
    """HTTPS: `self` for a certificate of the server's own, or a PEM file with one."""
    tls_key: Path | None = None
    """Its key, where the file does not hold that too."""
    lab: bool = Field(False, description="true or false")
    """Lets anyone who may listen put a bad network in front of a listener."""
    device: Literal["auto", "cpu", "cuda"] = Field("auto", description="auto, cpu or cuda")
    """Where models compute that have a choice; auto is a GPU where there is one."""
    workers: int = Field(1, ge=1, le=64, description="a whole number from 1 to 64")
    """Processes that render speech."""
    voices: Annotated[tuple[str, ...], NoDecode] = ("joe", "heart")
    """Loaded and warmed at start: names, or `piper:FILE.onnx` for any Piper voice."""
    voice: str = "joe"
    """Speaks where nobody asks for another one."""
    profile: str = DEFAULT_PROFILE
    controller: str = "adaptive"
    shadow: bool = True
    """Estimates what each listener hears, now and then, by decoding what reached it: under 1 % of a core each."""
    max_listeners: int = Field(64, ge=1, description="a whole number from 1 on")
    max_text_chars: int = Field(20_000, ge=1, description="a whole number from 1 on")
    """Of one utterance, all its pieces together."""
    max_message_bytes: int = Field(65_536, ge=256, description="a whole number from 256 on")
    """Of one message on a channel or one JSON body."""
    max_sdp_bytes: int = Field(65_536, ge=1024, description="a whole number from 1024 on")
    max_messages_per_s: float = Field(50.0, gt=0, description="a number above 0")
    """Of one listener on its control channel."""
    cors_origins: Annotated[tuple[str, ...], NoDecode] = Field(
        (), description="addresses such as https://my.page, with commas between"
    )
    """Pages of these origins may use the server; `*` for all of them."""
    ice_servers: Annotated[tuple[IceServer, ...], NoDecode] = Field(
        (), description='stun: and turn: URLs with commas between, or JSON such as [{"urls": "turn:…"}]'
    )
    cache_dir: Path | None = None
    """Where voices keep the files that they build; None is the user's cache folder."""
    speech_cache_mb: int = Field(32, ge=0, description="a whole number from 0 on")
    """Of speech that each render worker keeps in memory, for what is said again; 0 keeps none."""
    speech_cache_dir: Path | None = None
    """Where it is kept beyond the life of the process; None is nowhere. What was said can be heard there."""
    speech_cache_disk_mb: int = Field(256, ge=0, description="a whole number from 0 on")
    log_level: str = "info"

    @field_validator("voices", "cors_origins", mode="before")
    @classmethod
    def _listed(cls, value: Any) -> Any:
        return _listed(value)

    @field_validator("ice_servers", mode="before")
    @classmethod
    def _ice_servers(cls, value: Any) -> Any:
        listed = _listed(value)
        return [{"urls": server} if isinstance(server, str) else server for server in listed]

    @field_validator("token", "tls", mode="before")
    @classmethod
    def _nothing_is_none(cls, value: Any) -> Any:
        return value or None

    @field_validator("log_level")
    @classmethod
    def _known_level(cls, value: str) -> str:
        if value.lower() not in ("debug", "info", "warning", "error"):
            raise ValueError(f"The log level is debug, info, warning or error, not {value!r}.")
        return value.lower()

    @model_validator(mode="after")
    def _names_fit(self) -> "Settings":
        if self.voice not in (*self.voices, *self.voice_names):
            raise ValueError(f"The voice {self.voice!r} is not among the voices to load: {', '.join(self.voices)}.")
        if self.profile not in PROFILES:
            raise ValueError(f"There is no profile {self.profile!r}; there are {', '.join(PROFILES)}.")
        return self

    @property
    def voice_names(self) -> tuple[str, ...]:
        """Of `voices`, as listeners call them: a voice from a file goes by the file's name, not by where it lies."""
        return tuple(map(voice_name, self.voices))

    @property
    def first_voice(self) -> str:
        """`voice`, as listeners call it."""
        return voice_name(self.voice)

    @property
    def loopback(self) -> bool:
        """Whether only this machine can reach the server."""
        return self.host == "localhost" or self.host == "::1" or self.host.startswith("127.")


def settings_sentence(error: ValidationError) -> str:
    """What is wrong with a setting first, and how it is told."""
    first = error.errors()[0]
    if first["type"] == "value_error":
        return str(first["ctx"]["error"])
    name = str(first["loc"][0])
    field = Settings.model_fields.get(name)
    known = None if field is None else field.description
    inside = len(first["loc"]) > 1  # of a server, whose credential is not to be shown
    says = f"must be {known}." if inside else must_be(known, first)
    return f"--{name.replace('_', '-')} (or LEGATO_{name.upper()}) {says}"
