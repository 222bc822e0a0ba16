"""Speech engines that users bring, one module each: how an engine becomes a `Voice`, and where its tiers may change.

None of them is installed with Legato. A voice of theirs is listed once its package can be imported; which model,
speaker or recording it speaks with is said by environment variables, which each module names.
"""
