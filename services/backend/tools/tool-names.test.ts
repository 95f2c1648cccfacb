import { describe, expect, test } from 'vitest';
import { constantTools } from '../../contracts/constant-tools.ts';
import { newId } from '../../contracts/ids.ts';
import { candidateNames, toolNamePattern } from './tool-names.ts';

const mcpServer = newId('mcpServer');

function names(mcpServerName: string, originalName: string, server = mcpServer): readonly string[] {
  return [...candidateNames({ mcpServer: server, mcpServerName, originalName })];
}

test("the tool's own name comes first, then SERVER_TOOL, then one with a hash", () => {
  expect(names('files', 'read').slice(0, 2)).toEqual(['read', 'files_read']);
  expect(names('files', 'read')[2]).toMatch(/^files_read_[0-9a-f]{8}$/);
});

test('characters that agents do not accept are replaced', () => {
  expect(names('my files', 'notes/read.v2').slice(0, 2)).toEqual(['notes_read_v2', 'my_files_notes_read_v2']);
  expect(names('Café', '読む')[0]).toBe('__');
});

test("remote-mcp's own names are never used", () => {
  for (const reserved of Object.values(constantTools)) {
    expect(names('files', reserved)).not.toContain(reserved);
    expect(names('files', reserved)[0]).toBe(`files_${reserved}`);
  }
  expect(names('list', 'skills')).not.toContain('list_skills');
});

describe('a name that is too long', () => {
  test('is cut, and ends in a hash of the full name', () => {
    const long = 'x'.repeat(80);
    const [own, full] = names('files', long);
    expect(own).toMatch(/^x{55}_[0-9a-f]{8}$/);
    expect(full).toMatch(/^files_x{49}_[0-9a-f]{8}$/);
    expect(names('files', `${long}y`)[0]).not.toBe(own);
  });

  test('is unchanged at exactly 64 characters', () => {
    expect(names('files', 'x'.repeat(64))[0]).toBe('x'.repeat(64));
  });
});

test('every candidate is a name that agents accept, and no two are the same', () => {
  for (const [server, tool] of [
    ['files', 'read'],
    ['s'.repeat(64), 't'.repeat(1000)],
    ['ü', '.'],
  ] as const) {
    const all = names(server, tool);
    for (const name of all) expect(name).toMatch(toolNamePattern);
    expect(new Set(all).size).toBe(all.length);
  }
});

test('the same tool of another MCP server ends in another hash', () => {
  expect(names('files', 'read')[2]).not.toBe(names('files', 'read', newId('mcpServer'))[2]);
});
