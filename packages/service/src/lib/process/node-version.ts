import manifest from '../../../package.json' with { type: 'json' };

/** Version of this software. */
export const NODE_VERSION: string = manifest.version;

const { repository } = manifest as object as { readonly repository?: { readonly url: string } };

/** Address of the repository on the web, as package.json has it; null: it has none. */
export const REPOSITORY_URL: string | null = repository?.url.replace(/^git\+/, '').replace(/\.git$/, '') ?? null;
