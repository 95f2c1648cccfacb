/** Why the backend closes the WebSocket of a page, for the page to obey. */

/** The session has ended. The protocol graphql-transport-ws has this code for `Unauthorized`. */
export const signedOutCode = 4401;
/** The page has sent too many messages. It does not connect again by itself, because it would send them again. */
export const tooManyMessagesCode = 4430;
/** The backend could not follow the changes. The page connects again (IANA, "WebSocket Close Code Number Registry"). */
export const tryAgainCode = 1013;
