/** The token of a one-time link. It leaves the address at once, so that it is in no history. */
export function takeToken(): string | null {
  const token = new URLSearchParams(window.location.hash.slice(1)).get('token');
  if (token !== null)
    window.history.replaceState(window.history.state, '', window.location.pathname + window.location.search);
  return token;
}
