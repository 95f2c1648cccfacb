/**
 * The backend's user at the platform's own Dgraph. Users and groups share a namespace there, so the group has another
 * name.
 */
export const graphUser = 'svc';
export const graphGroup = 'svc-data';
/** The administrator of every new Dgraph, with a well-known password. */
export const graphAdmin = 'groot';
export const graphAdminGroup = 'guardians';
