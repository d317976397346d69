/** A promise and the functions that settle it. */
export interface PromiseParts<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T | PromiseLike<T>) => void;
  readonly reject: (reason: unknown) => void;
}

/** `Promise.withResolvers`, which Node 20 does not have. */
export function withResolvers<T>(): PromiseParts<T> {
  let resolve!: PromiseParts<T>['resolve'];
  let reject!: PromiseParts<T>['reject'];
  const promise = new Promise<T>((...settle) => {
    [resolve, reject] = settle;
  });
  return { promise, resolve, reject };
}
