import { parseArgs } from 'node:util'

/** One flag of a command. */
export interface Flag {
  type: 'string' | 'boolean'
  /** For a string: the placeholder for its value in the help. */
  value?: string
  meaning: string
}

/** The arguments of a command. Flags that were not given are left out. */
export interface Invocation {
  flags: Record<string, string | boolean | undefined>
  /** The positional arguments. */
  names: string[]
  env: NodeJS.ProcessEnv
}

/** One subcommand of the program. */
export interface Command {
  /** One or two words: `serve`, `import har`. */
  name: string
  /** The text after the name in the usage line. */
  operands?: string
  summary: string
  /** Started only by the program itself, so left out of the help. */
  isInternal?: true
  flags: Record<string, Flag>
  /** Returns the exit code. Fails with `UsageError` for wrong arguments. */
  run(invocation: Invocation): Promise<number>
}

/** Wrong use of a command: one line on stderr and exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** Parses the arguments after the command's name. Fails with `UsageError`. */
export function readInvocation(command: Command, args: string[], env: NodeJS.ProcessEnv): Invocation {
  const options = Object.fromEntries(Object.entries(command.flags).map(([name, { type }]) => [name, { type }]))
  try {
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true })
    if (positionals.length > 0 && !command.operands) {
      throw new UsageError(`${command.name}: takes no argument "${positionals[0]}"`)
    }
    return { flags: values as Invocation['flags'], names: positionals, env }
  } catch (error) {
    // The first sentence of the message says what is wrong; the others give advice.
    if (error instanceof TypeError) throw new UsageError(`${command.name}: ${error.message.split(/\.\s/, 1)[0]}`)
    throw error
  }
}

/** Returns a string flag. Fails with `UsageError` when it was not given. */
export function required(command: Command, { flags }: Invocation, name: string): string {
  const value = flags[name]
  if (typeof value !== 'string' || value === '') throw new UsageError(`${command.name}: --${name} is missing`)
  return value
}

export function helpOf(command: Command): string {
  const flags = Object.entries(command.flags).map(([name, { value, meaning }]) => {
    const flag = `--${name}${value ? ` ${value}` : ''}`
    return `  ${flag.padEnd(28)} ${meaning}`
  })
  const usage = ['tagwarden', command.name, flags.length > 0 ? '[options]' : '', command.operands ?? ''].filter(Boolean)
  return [`usage: ${usage.join(' ')}`, '', command.summary, ...(flags.length > 0 ? ['', ...flags] : [])].join('\n')
}
