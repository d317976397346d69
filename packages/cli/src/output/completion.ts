import type { Command } from 'commander';

export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

interface Entry {
  /** Names of the command from the top: "agents show". */
  readonly path: string;
  readonly words: readonly string[];
}

/** Every command with the words that may follow it. */
function entriesOf(command: Command, path = ''): Entry[] {
  const options = command.options.flatMap(({ long }) => (long ? [long] : []));
  const words = [...command.commands.map((each) => each.name()), ...options];
  const below = command.commands.flatMap((each) => entriesOf(each, `${path} ${each.name()}`.trim()));
  return [{ path, words }, ...below];
}

export function completionScript(program: Command, shell: Shell): string {
  const entries = entriesOf(program);
  return shell === 'fish' ? forFish(entries) : forBash(entries, shell);
}

function forBash(entries: readonly Entry[], shell: 'bash' | 'zsh'): string {
  const cases = entries.map(({ path, words }) => `    "${path}") words="${words.join(' ')}" ;;`);
  return `${shell === 'zsh' ? '#compdef agentnet\nautoload -U +X bashcompinit && bashcompinit\n' : ''}_agentnet() {
  local word path="" words=""
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ $word == -* ]] || path="\${path:+$path }$word"
  done
  case "$path" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _agentnet agentnet`;
}

function forFish(entries: readonly Entry[]): string {
  const lines = entries.flatMap(({ path, words }) => {
    const parts = path === '' ? [] : path.split(' ');
    const seen = parts.map((part) => `__fish_seen_subcommand_from ${part}`).join('; and ');
    const condition = parts.length === 0 ? '__fish_use_subcommand' : seen;
    return words.map((word) =>
      word.startsWith('--')
        ? `complete -c agentnet -n '${parts.length === 0 ? 'true' : condition}' -l ${word.slice(2)}`
        : `complete -c agentnet -f -n '${condition}' -a ${word}`,
    );
  });
  return lines.join('\n');
}
