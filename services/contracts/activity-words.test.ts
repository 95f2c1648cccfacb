import { expect, test } from 'vitest';
import { actionInWords } from './activity-words.ts';

test.each([
  ['update', 'mcpServer', 'changed MCP server files'],
  ['revoke', 'key', 'revoked key files'],
  ['other', 'thing', 'other thing files'],
])('%s of %s', (action, subjectKind, words) => {
  expect(actionInWords({ action, subjectKind, subject: 'files' })).toBe(words);
});
