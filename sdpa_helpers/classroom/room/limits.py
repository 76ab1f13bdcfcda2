"""How often somebody may do something: a bucket each, which fills again with time."""

import threading
from dataclasses import dataclass, field


@dataclass
class Limits:
    """Buckets by name. `most` at once, then `a_second`."""

    most: float
    a_second: float
    buckets: dict[str, tuple[float, float]] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def allows(self, name: str, now: float) -> bool:
        """Whether they may once more; it counts."""
        with self.lock:
            if len(self.buckets) > MOST_NAMES:
                self.buckets.clear()
            left, since = self.buckets.get(name, (self.most, now))
            left = min(self.most, left + max(now - since, 0) * self.a_second)
            self.buckets[name] = (left - 1 if left >= 1 else left, now)
            return left >= 1


MOST_NAMES = 10_000
