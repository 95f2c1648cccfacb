/** As whom the backend comes to a Dgraph of our own. Users and groups share their names there, so the group has another. */
export const graphUser = 'svc';
export const graphGroup = 'svc-data';
/** The administrator that every Dgraph is born with, with a password that everybody knows. */
export const graphAdmin = 'groot';
export const graphAdminGroup = 'guardians';
