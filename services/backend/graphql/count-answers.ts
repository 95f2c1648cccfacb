import {
  defaultFieldResolver,
  type GraphQLFieldResolver,
  type GraphQLSchema,
  isIntrospectionType,
  isObjectType,
} from 'graphql';
import type { GraphqlContext } from './builder.ts';

/** An object of the answer, in memory; its JSON text is shorter. */
const objectBytes = 48;
/** Quotes, colon and comma around a field. */
const signsBytes = 4;
const numberBytes = 20;
/** An error with its path and its stack. */
const errorBytes = 1024;

type Resolver = GraphQLFieldResolver<unknown, GraphqlContext>;

/** Makes each field count its part of the answer, before the answer is written as text. */
export function countAnswers(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || isIntrospectionType(type)) continue;
    for (const field of Object.values(type.getFields()))
      field.resolve = counting(field.resolve ?? defaultFieldResolver);
  }
  return schema;
}

function counting(resolve: Resolver): Resolver {
  return (source, args, context, info) => {
    const { operation } = context;
    operation.signal.throwIfAborted();
    const count = (value: unknown) => {
      operation.countAnswer(String(info.path.key).length + signsBytes + sizeOf(value));
      return value;
    };
    const fail = (thrown: unknown) => {
      operation.countAnswer(errorBytes);
      throw thrown;
    };
    try {
      const value = resolve(source, args, context, info);
      return value instanceof Promise ? value.then(count, fail) : count(value);
    } catch (thrown) {
      return fail(thrown);
    }
  };
}

/** A node counts as the object alone, because its fields count themselves. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(JSON.stringify(value));
  if (Array.isArray(value)) return value.reduce((sum, item) => sum + sizeOf(item) + 1, 2);
  return typeof value === 'object' && value !== null ? objectBytes : numberBytes;
}
