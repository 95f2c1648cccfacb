import { newId, type WorkspaceId } from '../../../contracts/ids.ts';
import type { NewNode } from '../graph.ts';

/** Nodes with a value in every field. A test names only the fields that it checks. */

export function workspaceNode(values: Partial<NewNode<'workspace'>> = {}): NewNode<'workspace'> {
  const id = newId('workspace');
  return { id, name: `Workspace ${id}`, suspended: false, revision: 0, statusRevision: 0, createdAt: 1, ...values };
}

export function userNode(values: Partial<NewNode<'user'>> = {}): NewNode<'user'> {
  const id = newId('user');
  return { id, email: `${id}@example.com`, name: 'Ann', signedInAt: null, createdAt: 1, ...values };
}

export function roleNode(workspace: WorkspaceId, values: Partial<NewNode<'role'>> = {}): NewNode<'role'> {
  const id = newId('role');
  return {
    id,
    workspace,
    name: `Role ${id}`,
    description: '',
    enabled: true,
    toolLimit: null,
    createdAt: 1,
    ...values,
  };
}

export function skillNode(workspace: WorkspaceId, values: Partial<NewNode<'skill'>> = {}): NewNode<'skill'> {
  const id = newId('skill');
  return { id, workspace, name: `Skill ${id}`, description: '', instructions: '', createdAt: 1, ...values };
}

export function toolNode(workspace: WorkspaceId, values: Partial<NewNode<'tool'>> = {}): NewNode<'tool'> {
  const id = newId('tool');
  const unlisted = { name: null, definition: null, listed: false };
  return { id, workspace, originalName: id, mcpServer: 'srv_1', createdAt: 1, ...unlisted, ...values };
}

export function keyNode(workspace: WorkspaceId, values: Partial<NewNode<'key'>> = {}): NewNode<'key'> {
  const id = newId('key');
  const times = { expiresAt: null, revokedAt: null, firstUsedAt: null, lastUsedAt: null, createdAt: 1 };
  const secrets = { digest: `digest of ${id}`, ciphertext: '', hint: '' };
  const rest = { activeName: null, allRoles: true, disclosure: null, replaces: null, client: null, grant: null };
  return { id, workspace, name: id, ...rest, ...secrets, ...times, ...values };
}

export function memberNode(workspace: WorkspaceId, user: string): NewNode<'member'> {
  return { id: newId('member'), workspace, user, role: 'viewer', suspended: false, createdAt: 1 };
}

export function settingNode(name: string, value = ''): NewNode<'setting'> {
  return { id: newId('setting'), name, value };
}
