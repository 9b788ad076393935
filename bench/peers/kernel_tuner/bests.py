"""What a tool had found after half of its time and after all of it."""


def bests(rows, seconds):
    """Of rows that begin with (seconds since the start, seconds a launch or None, key): the fastest by the tool's own
    times so far, and how many were tried."""
    out = []
    for limit in (seconds / 2, seconds):
        done = [row for row in rows if row[0] <= limit]
        right = [row for row in done if row[1] is not None]
        best = min(right, key=lambda row: row[1]) if right else (None, None, None)
        time_s = None if best[1] is None else float(best[1])
        out.append(
            {"seconds": limit, "tried": len(done), "right": len(right), "own_time_s": time_s, "variant": best[2]}
        )
    return out
