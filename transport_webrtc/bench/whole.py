"""What streaming is compared with: the text prepared as one and rendered in one go, sound only when all is done."""

from time import perf_counter

from adaptive.audio.resampling import resample
from adaptive.speech.renderer import Chunk, Rendered, RenderEvent
from adaptive.speech.voice import Voice
from adaptive.ticks import TICK_RATE


class WholeStream:
    """Stands in for `SpeechStream` in a render worker. The same voice, tier and resampling; one chunk."""

    def __init__(self, voice: Voice, *, speed: float = 1.0, seed: int = 0) -> None:
        self.position = 0
        self.done = False
        self._voice = voice
        self._speed = speed
        self._seed = seed
        self._text = ""
        self._final = False

    def feed(self, text: str, *, final: bool) -> None:
        """Adds text."""
        self._text += text
        self._final = final

    def next(self, *, tier: str, chunk_frames: int | None) -> list[RenderEvent]:
        """Everything at once, as soon as the text is complete."""
        if not self._final:
            return []
        self.done = True
        started = perf_counter()
        prepared = self._voice.prepare(self._text.strip(), speed=self._speed, seed=self._seed)
        if not prepared.frames:
            return [Rendered(ticks=0)]
        samples = resample(prepared.decode(0, prepared.frames, tier=tier), self._voice.info.rate, TICK_RATE)
        self.position = len(samples)
        took = perf_counter() - started
        chunk = Chunk(start=0, samples=samples, tier=tier, frames=prepared.frames, render_s=took, clause=0)
        return [chunk, Rendered(ticks=self.position)]
