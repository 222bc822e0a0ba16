"""What goes again because an answer is overdue is a message like any other: of one format, and not too long."""

from adaptive.control.plan import Codec, Format
from adaptive.delivery import Delivery, Frame, SpeechMessage
from adaptive.delivery.wire import unpack

PCM = Format(codec=Codec.PCM16, rate=24_000)
ULAW = Format(codec=Codec.ULAW, rate=8_000)


def test_frames_of_pcm_and_what_follows_them_go_again_in_messages_that_hold_them() -> None:
    delivery, sent = Delivery(), []
    frames = [Frame(1, n * 480, 480, PCM if n < 3 else ULAW, bytes(480 if n < 3 else 80), n == 9) for n in range(10)]
    for frame in frames:
        delivery.add(frame)
    for step in range(400):
        sent += [unpack(data) for data in delivery.due(100.0 + step * 0.01)]
    speech = [message for message in sent if isinstance(message, SpeechMessage)]
    assert len(speech) > 6, "it goes again without an answer"
    for message in speech:
        assert {len(payload) for payload in message.frames} == {480 if message.format == PCM else 80}
