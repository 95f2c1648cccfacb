/**
 * Shares of a total: each demand is met up to an equal share of what smaller demands leave. However large some demands
 * are, no other gets less than an equal share.
 */
export function fairShares<Key>(demands: ReadonlyMap<Key, number>, total: number): ReadonlyMap<Key, number> {
  const shares = new Map<Key, number>();
  let left = total;
  for (const [key, demand] of [...demands].sort(([, one], [, other]) => one - other)) {
    const share = Math.min(demand, Math.floor(left / (demands.size - shares.size)));
    shares.set(key, share);
    left -= share;
  }
  return shares;
}
