import './production.ts'
import { helpOf, readInvocation, UsageError } from './commands/command.ts'
import { commands } from './commands/index.ts'
import { buildInfo, versionText } from './core/build-info.ts'
import { AppError, messageOf } from './core/error.ts'

async function overview(): Promise<string> {
  const all = await Promise.all(Object.values(commands).map((load) => load()))
  const listed = all.filter(({ isInternal }) => !isInternal)
  const lines = listed.map(({ name, summary }) => `  ${name.padEnd(12)} ${summary}`)
  return ['usage: tagwarden COMMAND [options]', '', ...lines, '', 'Run "tagwarden COMMAND --help" for details.'].join(
    '\n',
  )
}

const HELP = ['--help', '-h']
const VERSION = ['--version', '-v']

async function shownVersion(isJson: boolean): Promise<string> {
  const schema = (await import('../migrations/index.ts')).migrations.length
  if (isJson) return JSON.stringify({ ...buildInfo, schema })
  return `${versionText()}, database schema ${schema}`
}

async function main(args: string[]): Promise<number> {
  const [first = '', ...others] = args
  if (first === '' || HELP.includes(first) || (first === 'help' && others.length === 0)) {
    console.log(await overview())
    return args.length === 0 ? 2 : 0
  }
  if (VERSION.includes(first)) {
    console.log(await shownVersion(others.includes('--json')))
    return 0
  }
  if (first === 'help') return main([...others, '--help'])
  const found = Object.entries(commands).findLast(([name]) => name === args.slice(0, name.split(' ').length).join(' '))
  const command = await found?.[1]()
  if (!command) throw new UsageError(`unknown command "${args[0]}"; see tagwarden --help`)
  const rest = args.slice(command.name.split(' ').length)
  if (rest.some((one) => HELP.includes(one))) {
    console.log(helpOf(command))
    return 0
  }
  return command.run(readInvocation(command, rest, process.env))
}

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  console.error(`tagwarden: ${messageOf(error)}`)
  process.exitCode = error instanceof UsageError || error instanceof AppError ? 2 : 1
}
