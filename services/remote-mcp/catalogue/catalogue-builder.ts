import { hash } from 'node:crypto';
import type { CatalogueEntry } from '../../contracts/catalogue.ts';
import { SvcError } from '../../contracts/errors.ts';
import { findProcessId, type McpServerId, type RoleId, type SkillId, type ToolId } from '../../contracts/ids.ts';
import { byOriginalName, followTools } from '../../contracts/tool-pattern.ts';
import { giveWay } from '../../kit/give-way.ts';
import type { RuntimeProcesses } from '../routing/runtime-processes.ts';
import type { Catalogue, McpServer, Role, Skill, Tool } from './catalogue.ts';
import { RoleRules } from './role-rules.ts';
import { definitionFor } from './tool-definition.ts';

type Entry<Kind extends CatalogueEntry['entry']> = Extract<CatalogueEntry, { entry: Kind }>;
type Processes = Pick<RuntimeProcesses, 'of'>;

/** A tool before all its entries have arrived. Its lists can still grow. */
interface GrowingTool {
  readonly id: ToolId;
  readonly originalName: string;
  readonly item: Tool;
  readonly skills: Skill[];
}
interface GrowingSkill {
  readonly item: Skill;
  readonly roles: Role[];
}

/** Builds a catalogue from the entries of a pull, which may arrive in any order between `head` and `end`. */
export class CatalogueBuilder {
  readonly #processes: Processes;
  #head: Entry<'head'> | null = null;
  #entries = 0;
  #isComplete = false;
  readonly #mcpServers = new Map<McpServerId, McpServer>();
  readonly #tools: Entry<'tool'>[] = [];
  readonly #skills: Entry<'skill'>[] = [];
  readonly #roles: Entry<'role'>[] = [];

  constructor(processes: Processes) {
    this.#processes = processes;
  }

  add(entry: CatalogueEntry): void {
    if (this.#isComplete || (this.#head === null) !== (entry.entry === 'head'))
      throw unreadable('entries out of order');
    this.#entries++;
    switch (entry.entry) {
      case 'head':
        this.#head = entry;
        return;
      case 'mcpServer':
        this.#mcpServers.set(entry.id, this.#mcpServer(entry));
        return;
      case 'tool':
        this.#tools.push(entry);
        return;
      case 'skill':
        this.#skills.push(entry);
        return;
      case 'role':
        this.#roles.push(entry);
        return;
      case 'end':
        if (entry.entries !== this.#entries) throw unreadable('entries are missing');
        this.#isComplete = true;
    }
  }

  /** Null if the end is missing: the workspace changed during the pull, which must be repeated. */
  async build(): Promise<Catalogue | null> {
    if (this.#head === null || !this.#isComplete) return null;
    const tools = new Map<ToolId, GrowingTool>();
    const listed = new Map<string, GrowingTool[]>();
    const toolsByName = new Map<string, Tool>();
    for (const entry of byName(this.#tools)) {
      await giveWay();
      const tool = this.#tool(entry, tools.size);
      if (tool !== null) {
        tools.set(entry.id, tool);
        const ofServer = listed.get(entry.mcpServer) ?? [];
        listed.set(entry.mcpServer, ofServer);
        ofServer.push(tool);
        toolsByName.set(entry.name, tool.item);
      }
    }
    for (const ofServer of listed.values()) ofServer.sort(byOriginalName);
    const skills = new Map<SkillId, GrowingSkill>();
    for (const entry of this.#skills) {
      await giveWay();
      skills.set(entry.id, this.#skill(entry, tools, listed));
    }
    const roles = new Map<RoleId, Role>();
    for (const entry of this.#roles) {
      await giveWay();
      roles.set(entry.id, role(entry, skills, await RoleRules.of(entry, { listed, count: tools.size })));
    }
    const { workspace, name, suspended, version, statusVersion } = this.#head;
    return {
      ...{ workspace, name, suspended, version, statusVersion },
      mcpServers: [...this.#mcpServers.values()],
      skills: byName([...skills.values()].map(({ item }) => item)),
      roles: byName([...roles.values()]),
      toolsByName,
      skillsById: new Map([...skills].map(([id, { item }]) => [id, item])),
      rolesById: roles,
    };
  }

  #mcpServer({ entry: _, processes, callTimeout = null, ...server }: Entry<'mcpServer'>): McpServer {
    const found = processes.flatMap(({ runtime, process }) => {
      const id = findProcessId(process);
      return id === null ? [] : [this.#processes.of(runtime, id)];
    });
    return { ...server, callTimeout, processes: found };
  }

  #tool({ id, name, originalName, definition, mcpServer }: Entry<'tool'>, position: number): GrowingTool | null {
    const server = this.#mcpServers.get(mcpServer);
    if (server === undefined) return null;
    const skills: Skill[] = [];
    const described = definitionFor(name, definition);
    const item = {
      ...{ id, name, position, skills, mcpServer: server },
      originalNameText: JSON.stringify(originalName),
      definition: described?.text ?? null,
      isRepeatable: described?.isRepeatable ?? false,
      isReadOnly: described?.isReadOnly ?? false,
      hash: hash('sha256', described?.text ?? name, 'buffer').readUIntLE(0, 6),
    };
    return { id, originalName, item, skills };
  }

  #skill(
    entry: Entry<'skill'>,
    tools: ReadonlyMap<ToolId, GrowingTool>,
    listed: ReadonlyMap<string, readonly GrowingTool[]>,
  ): GrowingSkill {
    const { id, name, description, instructions, missingTools, patterns, files } = entry;
    const roles: Role[] = [];
    const named = entry.tools.flatMap((tool) => tools.get(tool) ?? []);
    const { tools: own, leftOut } = followTools(named, patterns, (mcpServer) => listed.get(mcpServer) ?? []);
    const item = {
      ...{ id, name, description, instructions, missingTools, leftOut, files, roles },
      tools: own.map((tool) => tool.item),
      mcpServers: entry.mcpServers.flatMap((server) => this.#mcpServers.get(server) ?? []),
    };
    for (const tool of own) tool.skills.push(item);
    return { item, roles };
  }
}

function role(entry: Entry<'role'>, skills: ReadonlyMap<SkillId, GrowingSkill>, rules: RoleRules | null): Role {
  const { id, name, description, enabled } = entry;
  const own = entry.skills.flatMap((skill) => skills.get(skill) ?? []);
  const item = { id, name, description, enabled, skills: own.map((skill) => skill.item), rules };
  for (const skill of own) skill.roles.push(item);
  return item;
}

/** In byte order of the names, the same at every remote-mcp. */
export function byName<Item extends { readonly name: string }>(items: Item[]): Item[] {
  return items.sort((one, other) => (one.name < other.name ? -1 : one.name > other.name ? 1 : 0));
}

export function unreadable(why: string): SvcError {
  return new SvcError('unavailable', `The backend's catalogue cannot be read: ${why}.`);
}
