"""Worlds of poses: trees, roadmaps, and shorter ways along what they find."""
