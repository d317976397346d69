import manifest from '../../../package.json' with { type: 'json' };

/** Version of this software. */
export const NODE_VERSION: string = manifest.version;
