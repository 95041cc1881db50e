"""The tasks of Playroom as data (paper, appendix)."""

PRIMITIVE = (
    "play-with-ball",
    "ring-bell",
    "turn-on-light",
    "touch-monkey",
    "turn-off-music",
    "turn-on-music",
)

COMPOSITIONAL = (
    "play-with-ball",
    "turn-on-light then ring-bell",
    "turn-on-music and play-with-ball then touch-monkey",
    "play-with-ball then turn-on-light",
    "turn-on-music and play-with-ball then turn-off-music",
    "turn-on-music or play-with-ball",
    "turn-off-music then play-with-ball then turn-on-music",
    "turn-on-music and play-with-ball and turn-on-light then ring-bell",
)

NOVEL = (
    "play-with-ball then turn-on-light or ring-bell",
    "turn-on-music then turn-on-light",
    "turn-on-light then (play-with-ball or ring-bell)",  # the paper prints the one before twice
    "play-with-ball then touch-monkey",
    "turn-on-music then turn-off-music",
    "turn-on-music and ring-bell then touch-monkey",
    "ring-bell then touch-monkey then turn-on-light",
    "turn-on-light and (ring-bell or turn-on-music) then play-with-ball",
)
