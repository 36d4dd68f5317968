import './production.ts'
import { version } from '../package.json'
import { helpOf, readInvocation, UsageError } from './commands/command.ts'
import { commands } from './commands/index.ts'
import { AppError, messageOf } from './core/error.ts'

async function overview(): Promise<string> {
  const all = await Promise.all(Object.values(commands).map((load) => load()))
  const listed = all.filter(({ isInternal }) => !isInternal)
  const lines = listed.map(({ name, summary }) => `  ${name.padEnd(12)} ${summary}`)
  return ['usage: tagwarden COMMAND [options]', '', ...lines, '', 'Run "tagwarden COMMAND --help" for details.'].join(
    '\n',
  )
}

async function main(args: string[]): Promise<number> {
  if (args.length === 0 || args[0] === '--help' || args[0] === '-h' || args[0] === 'help') {
    console.log(await overview())
    return args.length === 0 ? 2 : 0
  }
  if (args[0] === '--version') {
    console.log(version)
    return 0
  }
  const found = Object.entries(commands).find(([name]) => name === args.slice(0, name.split(' ').length).join(' '))
  const command = await found?.[1]()
  if (!command) throw new UsageError(`unknown command "${args[0]}"; see tagwarden --help`)
  const rest = args.slice(command.name.split(' ').length)
  if (rest.includes('--help')) {
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
