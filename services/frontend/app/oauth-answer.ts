export const oauthCallbackPath = '/oauth/callback';

/**
 * The query with which an authorization server sent the browser back, as it was: the router reads values as JSON, and drops
 * those that no place knows. It leaves the address and the history at once.
 */
export const oauthAnswer = takeAnswer();

function takeAnswer(): string {
  const { pathname, search } = window.location;
  if (pathname !== oauthCallbackPath) return '';
  window.history.replaceState(window.history.state, '', pathname);
  return search.slice(1);
}
