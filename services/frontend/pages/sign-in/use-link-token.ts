import { useEffect, useState } from 'react';

/** The token of a one-time link. It leaves the address at once, so that it is in no history. */
export function useLinkToken(): string | null {
  const [token, setToken] = useState(takeToken);
  useEffect(() => {
    // A link that is pasted while its page is open changes the fragment alone.
    const onHashChange = () => setToken((before) => takeToken() ?? before);
    window.addEventListener('hashchange', onHashChange);
    return () => window.removeEventListener('hashchange', onHashChange);
  }, []);
  return token;
}

function takeToken(): string | null {
  const token = new URLSearchParams(window.location.hash.slice(1)).get('token');
  if (token !== null)
    window.history.replaceState(window.history.state, '', window.location.pathname + window.location.search);
  return token;
}
