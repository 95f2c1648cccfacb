import { expect, test } from 'vitest';
import { exitCodeOf } from '../../../cli/error-to-terminal.ts';
import { errorCodes, SvcError } from '../../../services/contracts/errors.ts';
import { errorToHttp } from '../../../services/kit/http/error-to-http.ts';
import { errorToJsonRpc } from '../../../services/remote-mcp/wire/revision-2025-11-25/error-to-json-rpc.ts';

/** Programs and agents read these numbers, so a code keeps them. */
test('every error code has the exit code, HTTP status and JSON-RPC code it had', () => {
  const table = errorCodes.map((code) => {
    const error = new SvcError(code, 'of a test');
    return [code, exitCodeOf(error), errorToHttp(error).status, errorToJsonRpc(error).code];
  });
  expect(table).toEqual([
    ['invalid_input', 2, 400, -32602],
    ['unauthenticated', 3, 401, -31401],
    ['forbidden', 3, 403, -31403],
    ['not_found', 1, 404, -31404],
    ['conflict', 5, 409, -31409],
    ['too_large', 2, 413, -31413],
    ['rate_limited', 1, 429, -31429],
    ['timeout', 4, 504, -31504],
    ['unavailable', 4, 503, -31503],
    ['unsupported', 2, 501, -32601],
    ['cancelled', 130, 499, -31499],
    ['internal', 1, 500, -32603],
  ]);
});
