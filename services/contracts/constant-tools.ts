/**
 * Names of the tools that remote-mcp itself offers to every agent: reserved, so that no tool of an MCP server gets one
 * of them.
 */
export const constantTools = {
  listSkills: 'list_skills',
  loadSkill: 'load_skill',
  readSkillFile: 'read_skill_file',
  callTool: 'call_tool',
  activateRole: 'activate_role',
  deactivateRole: 'deactivate_role',
} as const;

const names: ReadonlySet<string> = new Set(Object.values(constantTools));

export function isConstantTool(name: string): boolean {
  return names.has(name);
}
