import { inject } from 'vitest';

/** True in `npm run test:long`, which tries more random courses and every place to die at, for the guarantees that `npm test` proves too. */
export const isLong: boolean = inject('isLong');
