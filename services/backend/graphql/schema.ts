import type { GraphQLSchema } from 'graphql';
import { addAccountFields } from './accounts.ts';
import { addActivity } from './activity.ts';
import { createBuilder } from './builder.ts';
import { addChanges } from './changes.ts';
import { countAnswers } from './count-answers.ts';
import { addIntegrations } from './integrations.ts';
import { addKeys } from './keys.ts';
import { addMail } from './mail.ts';
import { addMcpServers } from './mcp-servers.ts';
import { addMembers } from './members.ts';
import { addPaging } from './paging.ts';
import { addPasskeys } from './passkeys.ts';
import { addRoles } from './roles.ts';
import { addRuntimes } from './runtimes.ts';
import { addSessions } from './sessions.ts';
import { addSkills } from './skills.ts';
import { addTools } from './tools.ts';
import { addUsage } from './usage.ts';
import { addViewer } from './viewer.ts';
import { addWorkspaces } from './workspaces.ts';

/** The GraphQL API, built from one file a noun; `services/contracts/graphql/schema.graphql` is its printed form. */
export function createSchema(): GraphQLSchema {
  const builder = createBuilder();
  addPaging(builder);
  addViewer(builder);
  addAccountFields(builder);
  addPasskeys(builder);
  addSessions(builder);
  addWorkspaces(builder);
  addMembers(builder);
  addRoles(builder);
  addSkills(builder);
  addTools(builder);
  addMcpServers(builder);
  addIntegrations(builder);
  addKeys(builder);
  addRuntimes(builder);
  addMail(builder);
  addUsage(builder);
  addActivity(builder);
  addChanges(builder);
  return countAnswers(builder.toSchema());
}
