/**
 * What each gets of a total: all that it asks for, up to an equal share of what those leave that ask for less. However much some ask for,
 * nobody gets less than an equal share.
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
