/** Search parameters are plain text, so that addresses are readable: `?status=failed&cursor=…`. */
export const parseSearch = (text: string): Record<string, string> => Object.fromEntries(new URLSearchParams(text));

export function stringifySearch(search: Record<string, unknown>): string {
  const entries = Object.entries(search).filter(([, value]) => value !== undefined && value !== '');
  const text = new URLSearchParams(entries.map(([name, value]) => [name, String(value)])).toString();
  return text && `?${text}`;
}

/** For `search` of a route: the parameters that a view reads. Others are dropped. */
export const searchOf =
  <const K extends string>(...names: K[]) =>
  (search: Record<string, unknown>): { [N in K]?: string } =>
    Object.fromEntries(
      names.flatMap((name) =>
        search[name] === undefined || search[name] === '' ? [] : [[name, String(search[name])]],
      ),
    ) as { [N in K]?: string };
