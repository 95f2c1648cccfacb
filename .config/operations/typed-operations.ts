import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { codegen } from '@graphql-codegen/core';
import * as typescriptOperations from '@graphql-codegen/typescript-operations';
import { Kind, parse, print, separateOperations, stripIgnoredCharacters } from 'graphql';

export const operationsFile = 'stack/client/operations.graphql';
export const generatedFile = 'stack/client/generated/operations.ts';
const schemaFile = 'services/contracts/graphql/schema.graphql';

const typeOptions = {
  onlyOperationTypes: true,
  skipTypename: true,
  inlineFragmentTypes: 'combine',
  immutableTypes: true,
  strictScalars: true,
  scalars: { ID: 'string' },
};

/**
 * TypeScript for every operation of `operations.graphql`: its types by graphql-codegen, then one value with its text.
 * Throws if an operation does not match the schema.
 */
export async function typedOperations(root: string): Promise<string> {
  const document = parse(readFileSync(join(root, operationsFile), 'utf8'));
  const types = await codegen({
    filename: generatedFile,
    schema: parse(readFileSync(join(root, schemaFile), 'utf8')),
    documents: [{ location: operationsFile, document }],
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
    "import type { Operation } from '../backend-client.ts';\n",
    types,
    ...values,
  ].join('\n');
}

/**
 * The error of `npm run check` if the operations do not match the schema or the generated file is stale; otherwise an
 * empty text.
 */
export async function operationsProblem(root: string): Promise<string> {
  const current = await typedOperations(root);
  if (readFileSync(join(root, generatedFile), 'utf8') === current) return '';
  return `${generatedFile} is stale. Run npm run operations.`;
}

function capitalised(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

function uncapitalised(word: string): string {
  return word.charAt(0).toLowerCase() + word.slice(1);
}
