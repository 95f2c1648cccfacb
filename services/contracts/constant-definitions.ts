import { constantTools } from './constant-tools.ts';

const role = { type: 'string', description: 'Name or id of the role, as list_skills shows it.' };

/** The tools that every session lists, whatever its workspace holds. They read and steer the session; only call_tool acts outside. */
const definitions = [
  {
    name: constantTools.listSkills,
    title: 'List skills',
    description:
      'Lists the skills that can be used here: name, what it is for, whether it is available and why not. Start here, then load a skill with load_skill.',
    inputSchema: {
      type: 'object',
      properties: {
        query: { type: 'string', description: 'Only skills whose name or description holds all these words.' },
        cursor: { type: 'string', description: 'Where to go on, as a previous answer said.' },
      },
      additionalProperties: false,
    },
    annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
  },
  {
    name: constantTools.loadSkill,
    title: 'Load a skill',
    description:
      'Loads a skill: answers its instructions, the full definitions of its tools and which files it carries, and adds the tools to the list of this session.',
    inputSchema: {
      type: 'object',
      properties: { skill: { type: 'string', description: 'Name or id of the skill, as list_skills shows it.' } },
      required: ['skill'],
      additionalProperties: false,
    },
    annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
  },
  {
    name: constantTools.readSkillFile,
    title: 'Read a file of a skill',
    description:
      'Reads a file that a skill carries, such as a reference, a template or a script; load_skill shows which there are. A long text comes in parts.',
    inputSchema: {
      type: 'object',
      properties: {
        skill: { type: 'string', description: 'Name or id of the skill, as list_skills shows it.' },
        path: { type: 'string', description: 'Path of the file, as load_skill shows it.' },
        offset: { type: 'integer', minimum: 0, description: 'Where to go on, as a previous answer said.' },
      },
      required: ['skill', 'path'],
      additionalProperties: false,
    },
    annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
  },
  {
    name: constantTools.callTool,
    title: 'Call a tool',
    description:
      'Calls a tool of a skill by its name, for clients that do not list tools anew after load_skill. The arguments follow the inputSchema of the tool.',
    inputSchema: {
      type: 'object',
      properties: {
        name: { type: 'string', description: 'Name of the tool, as load_skill shows it.' },
        arguments: { type: 'object', description: 'Arguments of the tool.' },
      },
      required: ['name'],
      additionalProperties: false,
    },
    annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
  },
  {
    name: constantTools.activateRole,
    title: 'Activate a role',
    description: 'Makes the skills of a role usable in this session.',
    inputSchema: { type: 'object', properties: { role }, required: ['role'], additionalProperties: false },
    annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
  },
  {
    name: constantTools.deactivateRole,
    title: 'Deactivate a role',
    description: 'Takes the skills of a role out of this session.',
    inputSchema: { type: 'object', properties: { role }, required: ['role'], additionalProperties: false },
    annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
  },
] as const;

/** JSON texts, ready to be listed. */
export const constantDefinitions: readonly string[] = definitions.map((definition) => JSON.stringify(definition));
