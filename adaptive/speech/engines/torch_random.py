"""Seeds an engine that draws from torch's own generators."""


def seed_torch(seed: int) -> None:
    """The same seed, the same samples, where the engine runs on one device alone in its process."""
    import torch

    torch.manual_seed(seed)
