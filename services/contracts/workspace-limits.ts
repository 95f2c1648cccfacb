/** Limits of a workspace. The backend refuses more; clients can check beforehand. */

/** Each is a process or a connection, and an entry in the catalogue of every remote-mcp. */
export const mcpServersMax = 1000;
/**
 * Of one launch as JSON: hundreds of times the usual size. A runtime gets the launches of all workspaces in one
 * message.
 */
export const launchMaxBytes = 64 * 1024;
/** Variables or headers of one launch: more than an MCP server reads. */
export const settingsMax = 256;
/** Not counting revoked ones. Each may have its own processes, connections and messages in progress. */
export const runtimesMax = 20;
/** Enough for an organisation's whole library, few enough for a catalogue in memory. */
export const skillsMax = 10_000;
/** People of an organisation. Rules over all owners read them in one page. */
export const membersMax = 1000;
/** Not counting revoked ones: one for each agent of a person. */
export const keysOfMemberMax = 100;
/** Invitations that were not accepted yet. */
export const invitationsMax = 500;
/** A person's workspaces, of which the person is an owner. */
export const ownWorkspacesMax = 50;
/** A workspace needs dozens; with this limit a person can still read the list of roles. */
export const rolesMax = 1000;

/** The limit of one read of edges; an agent with more tools at once chooses badly among them anyway. */
export const toolsOfSkillMax = 1000;
/** A person writes a few; each is compared with every tool of its MCP server. */
export const patternsOfSkillMax = 32;
/** Of all skills of a workspace: with five thousand tools each, remote-mcp compares them within seconds. */
export const patternsOfWorkspaceMax = 10_000;
/** The limit of one read of edges. */
export const skillsOfRoleMax = 1000;
/** More than a person can read; each is compared with every tool of its MCP server. */
export const rulesOfRoleMax = 100;
/** Of all roles of a workspace, for the same reason as patterns. */
export const rulesOfWorkspaceMax = 10_000;

/** An agent reads them whole, into a limited context. */
export const instructionsMaxBytes = 256 * 1024;
/** The name that an MCP server gives its tool. A report allows no longer names. */
export const toolNameLengthMax = 1000;
/** Skills over MCP, "Limits": the number of files that hosts take of one skill. */
export const filesOfSkillMax = 512;
export const filesOfSkillMaxBytes = 16 * 1024 * 1024;
