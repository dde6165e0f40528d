"""What makes a hash good enough, what goes wrong otherwise, and vectors of hashed features.

``djb31ma`` is the hash of textbooks, for study: no sketch uses it, and ``forge`` shows why it signs nothing.
``collision_probability`` says what no hash can avoid. ``FeatureHasher`` makes vectors of fixed length out of
named features.

>>> from crivo.hash import items_for_collision
>>> items_for_collision(0.5, 365)
23
"""

from crivo._native import (
    FeatureHasher,
    approximate_collision_probability,
    collision_probability,
    djb31ma,
    forge,
    forge_after,
    items_for_collision,
)

__all__ = [
    "FeatureHasher",
    "approximate_collision_probability",
    "collision_probability",
    "djb31ma",
    "forge",
    "forge_after",
    "items_for_collision",
]
