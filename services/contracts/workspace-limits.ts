/** How much a workspace takes. The backend refuses more; whoever writes for it can know beforehand. */

/** Each is a process or a connection somewhere, and a line in everybody's catalogue. */
export const mcpServersMax = 1000;
/** Of one launch as JSON: hundreds of times what most have. A runtime is told the launches of all workspaces in one message. */
export const launchMaxBytes = 64 * 1024;
/** Variables or headers of one launch: more than an MCP server reads. */
export const settingsMax = 256;
/** Besides those that were revoked. Each may have processes, connections and messages under way of its own. */
export const runtimesMax = 20;
/** Large enough for an organisation's whole library, small enough for a catalogue that is held in memory. */
export const skillsMax = 10_000;
/** A workspace needs dozens; this keeps a list of roles, and the choice among them, one that a person can read. */
export const rolesMax = 1000;

/** As many as one read of edges gives; an agent that is shown more at once chooses badly among them anyway. */
export const toolsOfSkillMax = 1000;
/** As many as one read of edges gives. */
export const skillsOfRoleMax = 1000;

/** An agent reads them whole, into a context that is not endless. */
export const instructionsMaxBytes = 256 * 1024;
/** Of the name that an MCP server gave its tool. Why: a report names its tools in at most as many characters. */
export const toolNameLengthMax = 1000;
/** Skills over MCP, "Limits": what hosts take of one skill. */
export const filesOfSkillMax = 512;
export const filesOfSkillMaxBytes = 16 * 1024 * 1024;
