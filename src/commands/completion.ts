import { type Command, UsageError } from './command.ts'

/** The words that can follow those typed so far, and a description of each. */
interface Completion {
  /** The words before, such as `import`; empty for the first word. */
  after: string
  word: string
  meaning: string
}

const SHELLS: Readonly<Record<string, (completions: readonly Completion[]) => string>> = { bash, zsh, fish }

type Commands = Readonly<Record<string, () => Promise<Command>>>

/** The command that prints completion scripts for these commands. */
export const completionOf = (commands: Commands): Command => ({
  name: 'completion',
  operands: 'bash|zsh|fish',
  summary: 'Prints the completion script of a shell, such as: source <(tagwarden completion bash)',
  flags: {},
  async run({ names }) {
    const [shell = '', ...others] = names
    const script = Object.hasOwn(SHELLS, shell) && others.length === 0 ? SHELLS[shell] : undefined
    if (!script) throw new UsageError('completion: the shell must be one of bash, zsh, fish')
    console.log(script(await allCompletions(commands)))
    return 0
  },
})

async function allCompletions(commands: Commands): Promise<Completion[]> {
  const all = await Promise.all(Object.values(commands).map((load) => load()))
  const found = new Map<string, Completion>()
  for (const { name, summary, flags, isInternal } of all) {
    if (isInternal) continue
    const words = name.split(' ')
    for (const [index, word] of words.entries()) {
      const after = words.slice(0, index).join(' ')
      const meaning = index === words.length - 1 ? summary : ''
      if (!found.has(`${after} ${word}`)) found.set(`${after} ${word}`, { after, word, meaning })
    }
    for (const [flag, { meaning }] of Object.entries(flags))
      found.set(`${name} --${flag}`, { after: name, word: `--${flag}`, meaning })
  }
  return [...found.values()]
}

/** Returns the words by the words before. */
function byPrefix(completions: readonly Completion[]): [after: string, words: string][] {
  const groups = Map.groupBy(completions, ({ after }) => after)
  return [...groups].map(([after, group]) => [after, group.map(({ word }) => word).join(' ')])
}

function bash(completions: readonly Completion[]): string {
  const cases = byPrefix(completions).map(([after, words]) => `    "${after}") words="${words}" ;;`)
  return `_tagwarden() {
  local typed="\${COMP_WORDS[*]:1:COMP_CWORD-1}" words=""
  typed="\${typed%% -*}"
  case "$typed" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
  [[ \${#COMPREPLY[@]} -gt 0 ]] || COMPREPLY=($(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o filenames -F _tagwarden tagwarden`
}

function zsh(completions: readonly Completion[]): string {
  const described = ({ word, meaning }: Completion) => quoted(`${word.replaceAll(':', '\\:')}:${meaning}`)
  const groups = Map.groupBy(completions, ({ after }) => after)
  const cases = [...groups].map(
    ([after, group]) => `    ${quoted(after)}) choices=(${group.map(described).join(' ')}) ;;`,
  )
  return `#compdef tagwarden
_tagwarden() {
  local typed="\${(j: :)words[2,CURRENT-1]}"
  local -a choices
  typed="\${typed%% -*}"
  case "$typed" in
${cases.join('\n')}
  esac
  _describe 'tagwarden' choices || _files
}
compdef _tagwarden tagwarden`
}

function fish(completions: readonly Completion[]): string {
  const lines = completions.map(({ after, word, meaning }) => {
    const option = word.startsWith('--') ? `-l ${word.slice(2)}` : `-f -a ${word}`
    return `complete -c tagwarden -n ${quoted(`__tagwarden_after ${quoted(after)}`)} ${option} -d ${quoted(meaning)}`
  })
  return `function __tagwarden_after
  set -l typed
  for word in (commandline -opc)[2..-1]
    string match -q -- '-*' $word; and break
    set -a typed $word
  end
  test "$typed" = "$argv[1]"
end
${lines.join('\n')}`
}

/** Returns a text as one word of the shells. */
const quoted = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`
