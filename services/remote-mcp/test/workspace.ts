import { createHash } from 'node:crypto';
import type { ReportedTool } from '../../contracts/bus/messages.ts';
import type { KeyId, McpServerId, RoleId, SkillId, WorkspaceId } from '../../contracts/ids.ts';
import type { KeyDisclosure } from '../../contracts/key-disclosure.ts';
import type { Platform } from './platform.ts';
import type { TestRuntime } from './runtime.ts';

type Reporter = Pick<TestRuntime, 'report'> & { readonly name: string | null };

/** Creates the parts of a workspace by GraphQL, as a person would. */
export class TestWorkspace {
  readonly id: WorkspaceId;
  readonly #platform: Platform;

  private constructor(platform: Platform, id: WorkspaceId) {
    this.#platform = platform;
    this.id = id;
  }

  static async create(platform: Platform, name: string): Promise<TestWorkspace> {
    const input = { name, ownerEmail: `${name}@example.com` };
    const { createWorkspace } = await platform.must(
      'mutation($input: CreateWorkspaceInput!) { createWorkspace(input: $input) { id } }',
      { input },
    );
    return new TestWorkspace(platform, createWorkspace.id);
  }

  /** An MCP server bound to the runtime with this name. */
  runningOn(runtime: string, name: string, launch: object): Promise<McpServerId> {
    return this.#create('createMcpServer', 'McpServerInput', { name, launch, runtime });
  }

  /**
   * An MCP server that a runtime of the test reports as Connected, with its tools. Without a runtime's name it is
   * unbound.
   */
  async mcpServer(
    name: string,
    tools: readonly ReportedTool[],
    on: Reporter = this.#platform.runtime,
  ): Promise<McpServerId> {
    const id = await this.#create<McpServerId>('createMcpServer', 'McpServerInput', {
      name,
      launch: { command: 'true' },
      ...(on.name === null ? {} : { runtime: on.name }),
    });
    await on.report(id, {}, tools);
    return id;
  }

  /** `tools` as MCPSERVER/TOOL. */
  skill(name: string, tools: readonly string[], more: object = {}): Promise<SkillId> {
    const refs = tools.map((ref) => ({ mcpServer: ref.split('/')[0], tool: ref.split('/')[1] }));
    return this.#create('createSkill', 'SkillInput', { name, tools: refs, ...more });
  }

  /** Uploads a file of a skill as a person would. */
  async file(skill: SkillId, path: string, bytes: Uint8Array<ArrayBuffer> | string): Promise<void> {
    const digest = createHash('sha256').update(bytes).digest('hex');
    const { addSkillFile } = await this.#platform.must(
      `mutation ($workspace: ID!, $skill: ID!, $input: SkillFileInput!) {
        addSkillFile(workspace: $workspace, skill: $skill, input: $input) { url }
      }`,
      { workspace: this.id, skill, input: { path, digest, sizeBytes: Buffer.byteLength(bytes) } },
    );
    const { pathname, search } = new URL(addSkillFile.url);
    const put = await fetch(this.#platform.backendUrl + pathname + search, { method: 'PUT', body: bytes });
    if (put.status !== 200) throw new Error(await put.text());
  }

  async removeFile(skill: SkillId, path: string): Promise<void> {
    await this.#platform.must(
      'mutation ($workspace: ID!, $skill: ID!, $path: String!) { removeSkillFile(workspace: $workspace, skill: $skill, path: $path) }',
      { workspace: this.id, skill, path },
    );
  }

  role(name: string, skills: readonly SkillId[], more: object = {}): Promise<RoleId> {
    return this.#create('createRole', 'RoleInput', { name, skills, ...more });
  }

  async key(
    name: string,
    more: { roles?: readonly RoleId[]; expiresAt?: number; disclosure?: KeyDisclosure } = {},
  ): Promise<{ id: KeyId; text: string }> {
    const { createKey } = await this.#platform.must(
      'mutation($workspace: ID!, $input: KeyInput!) { createKey(workspace: $workspace, input: $input) { secret key { id } } }',
      { workspace: this.id, input: { name, ...more } },
    );
    return { id: createKey.key.id, text: createKey.secret };
  }

  async updateKey(id: KeyId, input: object): Promise<void> {
    await this.#platform.must(
      'mutation($workspace: ID!, $id: ID!, $input: KeyPatch!) { updateKey(workspace: $workspace, id: $id, input: $input) { id } }',
      { workspace: this.id, id, input },
    );
  }

  async revoke(key: KeyId): Promise<void> {
    await this.#platform.must(
      'mutation($workspace: ID!, $key: String!) { revokeKey(workspace: $workspace, key: $key) { id } }',
      {
        workspace: this.id,
        key,
      },
    );
  }

  async updateRole(id: RoleId, input: object): Promise<void> {
    await this.#platform.must(
      'mutation($workspace: ID!, $id: ID!, $input: RolePatch!) { updateRole(workspace: $workspace, id: $id, input: $input) { id } }',
      { workspace: this.id, id, input },
    );
  }

  async suspend(suspended: boolean): Promise<void> {
    await this.#platform.must(
      'mutation($id: ID!, $input: UpdateWorkspaceInput!) { updateWorkspace(id: $id, input: $input) { id } }',
      { id: this.id, input: { suspended } },
    );
  }

  async #create<Id>(mutation: string, type: string, input: object): Promise<Id> {
    const answer = await this.#platform.must(
      `mutation($workspace: ID!, $input: ${type}!) { ${mutation}(workspace: $workspace, input: $input) { id } }`,
      { workspace: this.id, input },
    );
    return answer[mutation].id;
  }
}
