import manifest from '../../../package.json' with { type: 'json' };

/** The version of this software. */
export const NODE_VERSION: string = manifest.version;
