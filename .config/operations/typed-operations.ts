import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { codegen } from '@graphql-codegen/core';
import * as typescriptOperations from '@graphql-codegen/typescript-operations';
import { Kind, parse, print, separateOperations, stripIgnoredCharacters } from 'graphql';

/** A file with operations, and the TypeScript that is made from it. */
interface OperationsFile {
  readonly source: string;
  readonly generated: string;
  /** Where the type `Operation` is, seen from the generated file. */
  readonly operationType: string;
}

/** The stack sends the first ones, the pages of the frontend the second ones. */
const operationsFiles: readonly OperationsFile[] = [
  {
    source: 'stack/client/operations.graphql',
    generated: 'stack/client/generated/operations.ts',
    operationType: '../backend-client.ts',
  },
  {
    source: 'services/frontend/graphql/operations.graphql',
    generated: 'services/frontend/graphql/generated/operations.ts',
    operationType: '../operation.ts',
  },
];
const schemaFile = 'services/contracts/graphql/schema.graphql';

const typeOptions = {
  onlyOperationTypes: true,
  skipTypename: true,
  inlineFragmentTypes: 'combine',
  immutableTypes: true,
  strictScalars: true,
  scalars: { ID: 'string' },
};

/** Generated files by path. Throws if an operation does not match the schema. */
export async function typedOperations(root: string): Promise<ReadonlyMap<string, string>> {
  const present = operationsFiles.filter(({ source }) => existsSync(join(root, source)));
  return new Map(await Promise.all(present.map(async (file) => [file.generated, await typed(root, file)] as const)));
}

/** TypeScript for every operation of a file: its types by graphql-codegen, then one value with its text. */
async function typed(root: string, { source, generated, operationType }: OperationsFile): Promise<string> {
  const document = parse(readFileSync(join(root, source), 'utf8'));
  const types = await codegen({
    filename: generated,
    schema: parse(readFileSync(join(root, schemaFile), 'utf8')),
    documents: [{ location: source, document }],
    config: typeOptions,
    plugins: [{ types: {} }],
    pluginMap: { types: typescriptOperations },
  });
  const parts = separateOperations(document);
  const values = document.definitions.flatMap((definition) => {
    if (definition.kind !== Kind.OPERATION_DEFINITION || definition.name === undefined) return [];
    const { operation } = definition;
    const name = definition.name.value;
    const part = parts[name];
    if (part === undefined) return [];
    const type = `${name}${capitalised(operation)}`;
    const definitions = part.definitions.toSorted((a, b) => Number(b === definition) - Number(a === definition));
    const text = stripIgnoredCharacters(print({ ...part, definitions }));
    return [
      `export const ${uncapitalised(type)}: Operation<${type}, ${type}Variables> = {\n  text: ${JSON.stringify(text)},\n};\n`,
    ];
  });
  return [
    '// Made by `npm run operations` from ../operations.graphql.\n',
    `import type { Operation } from '${operationType}';\n`,
    types,
    ...values,
  ].join('\n');
}

/**
 * The error of `npm run check` if operations do not match the schema or a generated file is stale; otherwise an empty
 * text.
 */
export async function operationsProblem(root: string): Promise<string> {
  const current = await typedOperations(root);
  const stale = [...current].filter(([path, text]) => readFileSync(join(root, path), 'utf8') !== text);
  return stale.map(([path]) => `${path} is stale. Run npm run operations.`).join('\n');
}

function capitalised(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

function uncapitalised(word: string): string {
  return word.charAt(0).toLowerCase() + word.slice(1);
}
