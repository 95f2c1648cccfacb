declare const shape: unique symbol;

/** An operation of `operations.graphql`, with the types that the schema gives its variables and its answer. */
export interface Operation<Result, Variables> {
  readonly text: string;
  /** Only for the compiler. */
  readonly [shape]?: (variables: Variables) => Result;
}
