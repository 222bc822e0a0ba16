"""How written forms are read aloud: `english` and `chinese` turn a clause into spans of what was written beside what is
said for it, with the same scanner and the same rules for markup and addresses. Numbers, dates, money, units, model
numbers, abbreviations and addresses leave here as words. `ssml` takes apart text that says how it is to be spoken.
"""
