import { parseArgs } from 'node:util'

/** A flag of a command. */
export interface Flag {
  type: 'string' | 'boolean'
  /** True for a string flag that can be given several times. */
  multiple?: true
  /** Placeholder for the value in the help text; only for string flags. */
  value?: string
  meaning: string
}

/** Parsed arguments of a command. `flags` only contains the flags that were given. */
export interface Invocation {
  flags: Record<string, string | boolean | undefined>
  /** Values of the flags that can be given several times, in order. Absent when none was given. */
  lists?: Readonly<Record<string, readonly string[]>>
  /** The positional arguments. */
  names: string[]
  env: NodeJS.ProcessEnv
}

/** A command of the program. */
export interface Command {
  /** Name of one or two words: `serve`, `import har`. */
  name: string
  /** Text after the command name in the usage line. */
  operands?: string
  summary: string
  /** True for a command that only the program itself starts. Such a command is omitted from the help. */
  isInternal?: true
  flags: Record<string, Flag>
  /** Returns the exit code. Rejects with `UsageError` for invalid arguments. */
  run(invocation: Invocation): Promise<number>
}

/** Incorrect use of a command, reported as one line on stderr with exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** Parses the arguments after the command name. Throws `UsageError`. */
export function readInvocation(command: Command, args: string[], env: NodeJS.ProcessEnv): Invocation {
  const options = Object.fromEntries(
    Object.entries(command.flags).map(([name, { type, multiple = false }]) => [name, { type, multiple }]),
  )
  try {
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true })
    if (positionals.length > 0 && !command.operands) {
      throw new UsageError(`${command.name}: unexpected argument "${positionals[0]}"`)
    }
    const [lists, flags] = [true, false].map((isList) =>
      Object.fromEntries(Object.entries(values).filter(([, value]) => Array.isArray(value) === isList)),
    )
    const read = { flags: flags as Invocation['flags'], names: positionals, env }
    return Object.keys(lists ?? {}).length === 0 ? read : { ...read, lists: lists as Record<string, string[]> }
  } catch (error) {
    // Only the first sentence of the message describes the error; the following ones give advice.
    if (error instanceof TypeError) throw new UsageError(`${command.name}: ${error.message.split(/\.\s/, 1)[0]}`)
    throw error
  }
}

/** Returns the value of a string flag. Throws `UsageError` if it is not given. */
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
