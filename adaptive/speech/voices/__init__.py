"""The voices that come with Legato, one module each (`joe`, `heart`, `tone`), and what they are built from.

A voice module has a constant `INFO` and a function `load(*, progress=None)`. `vits_split`, `quantise` and `vits` make a
voice of any Piper VITS file; `phonemes` reads English; `model_files` keeps what is built once.
"""
