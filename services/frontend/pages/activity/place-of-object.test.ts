import { expect, test } from 'vitest';
import { placeOfObject } from './place-of-object.ts';

const entry = { action: 'update', actor: 'usr_1', subject: 'x_1', subjectKind: 'mcpServer' };
const viewer = { id: 'usr_1' };

test.each([
  [{}, '/settings/mcp-servers?panel=x_1'],
  [{ subjectKind: 'skill' }, '/skills/x_1'],
  [{ subjectKind: 'role' }, '/roles?panel=x_1'],
  [{ subjectKind: 'key' }, '/profile/api-keys?panel=x_1'],
  [{ subjectKind: 'key', actor: 'usr_2' }, null],
  [{ action: 'remove' }, null],
  [{ action: 'revoke', subjectKind: 'key' }, null],
  [{ subjectKind: 'invitation' }, null],
  [{ subject: '../x?y' }, '/settings/mcp-servers?panel=..%2Fx%3Fy'],
])('%o is shown at %s', (fields, path) => expect(placeOfObject({ ...entry, ...fields }, viewer)).toBe(path));
