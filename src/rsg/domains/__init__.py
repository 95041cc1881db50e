"""The places that come with rsg: each folder holds everything about one of them, and nothing else names it."""
